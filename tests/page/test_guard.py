"""Who is let in, from where, and with how much."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from page_visitor import ORIGIN, PORT, visit

FOREIGN_HOSTS = (
    "evil.example",
    f"evil.example:{PORT}",
    "127.0.0.1",
    "127.0.0.1:1",
    "",
    "[::1]:8123",
)
FOREIGN_ORIGINS = (
    "http://evil.example",
    "null",
    "http://127.0.0.1:1",
    f"https://127.0.0.1:{PORT}",
    "",
)


@pytest.mark.parametrize("host", FOREIGN_HOSTS)
def test_a_request_under_another_name_goes_no_further(visitor, host):
    reply = visitor.get("/", headers={"Host": host})
    assert reply.status_code == 421 and "form" not in reply.text


def test_localhost_is_this_machine_too(visitor):
    assert visitor.get("/", headers={"Host": f"localhost:{PORT}"}).status_code == 200


@pytest.mark.parametrize("origin", FOREIGN_ORIGINS)
def test_a_change_from_another_origin_changes_nothing(visitor, origin):
    reply = visitor.post("/drafts", {"path": "deaths.csv"}, headers={"Origin": origin})
    assert reply.status_code == 403 and visitor.site.state.names("drafts") == []


def test_a_change_without_an_origin_changes_nothing(visitor):
    reply = visitor.client.post("/drafts", data={"key": visitor.key(), "path": "deaths.csv"})
    assert reply.status_code == 403 and visitor.site.state.names("drafts") == []


@pytest.mark.parametrize("site", ("cross-site", "same-site"))
def test_what_another_site_asks_for_is_not_shown(visitor, site):
    assert visitor.get("/", headers={"Sec-Fetch-Site": site}).status_code == 403


@pytest.mark.parametrize("key", ("", "0" * 64))
def test_a_form_without_its_key_changes_nothing(visitor, key):
    reply = visitor.client.post("/drafts", data={"key": key}, headers={"Origin": ORIGIN})
    assert reply.status_code == 403 and "reload the page" in reply.text
    assert visitor.site.state.names("drafts") == []


def test_without_a_session_there_is_nothing_but_the_way_in(visitor):
    visitor.client.cookies.clear()
    for address in ("/", "/drafts/abc", "/releases/abc", "/nowhere"):
        reply = visitor.get(address)
        assert reply.status_code == 401 and "locked" in reply.text
    assert visitor.get("/static/page.css").status_code == 200


def test_a_token_opens_the_page_once(visitor):
    token = visitor.access.token
    visitor.client.cookies.clear()
    assert visitor.get(f"/?token={token}").status_code == 200
    visitor.client.cookies.clear()
    assert visitor.get(f"/?token={token}").status_code == 401
    assert visitor.access.token != token


def test_a_guessed_token_or_cookie_opens_nothing(visitor):
    visitor.client.cookies.clear()
    assert visitor.get("/?token=guess").status_code == 401
    visitor.client.cookies.set(f"holdfast-{PORT}", "guess", domain="127.0.0.1")
    assert visitor.get("/").status_code == 401


def test_the_key_of_one_session_is_nothing_to_another(visitor):
    key = visitor.key()
    visitor.client.cookies.clear()
    visitor.get(f"/?token={visitor.access.token}")
    assert visitor.key() != key
    assert visitor.post("/drafts", {"key": key, "path": "deaths.csv"}).status_code == 403


def test_every_reply_forbids_to_keep_it_and_to_run_what_is_not_ours(reader, opened):
    addresses = ("/", "/static/page.js", "/nowhere", opened, f"{opened}/zip")
    for address in addresses:
        headers = reader.get(address).headers
        assert headers["cache-control"] == "no-store"
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy and "unsafe" not in policy
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["x-frame-options"] == "DENY"


def test_no_page_holds_a_script_or_a_style_of_its_own(reader, opened):
    for address in ("/", opened, f"{opened}/zip"):
        page = reader.get(address).text
        assert page.count("<script") == page.count('<script src="/static/page.js" defer></script>')
        assert "<style" not in page and " style=" not in page and "javascript:" not in page
        assert "http://" not in page.replace("http://www.w3.org/2000/svg", "")
        assert "https://" not in page and " onclick" not in page


def test_too_much_is_refused_before_it_is_read(folder):
    with visit(folder, most=50_000) as visitor:
        reply = visitor.post("/drafts", files={"upload": ("a.csv", b"x" * 60_000)})
        assert reply.status_code == 413 and visitor.site.state.names("drafts") == []


def test_too_much_is_refused_also_where_its_length_is_not_said(folder):
    def body():
        for _ in range(100):
            yield b"x" * 10_000

    with visit(folder, most=50_000) as visitor:
        headers = {"Origin": ORIGIN, "Content-Type": "application/x-www-form-urlencoded"}
        assert visitor.client.post("/drafts", content=body(), headers=headers).status_code == 413


def test_two_hundred_requests_at_once_are_all_answered(visitor):
    with ThreadPoolExecutor(40) as pool:
        codes = list(pool.map(lambda _: visitor.get("/").status_code, range(200)))
    assert codes == [200] * 200


def test_an_unexpected_error_is_told_by_its_type_alone(visitor, monkeypatch):
    def fail(*_):
        raise RuntimeError("deaths in Kent: 17")

    monkeypatch.setattr("holdfast.page.folder.Folder.tables", fail)
    reply = visitor.get("/")
    assert reply.status_code == 500 and "RuntimeError" in reply.text and "Kent" not in reply.text
    assert reply.headers["cache-control"] == "no-store"


def test_other_ways_of_asking_are_refused(visitor):
    assert visitor.client.put("/", headers={"Origin": ORIGIN}).status_code == 405
    with pytest.raises(Exception), visitor.client.websocket_connect("/"):  # noqa: B017
        pass
