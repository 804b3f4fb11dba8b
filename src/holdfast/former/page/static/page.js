"use strict";
// Everything works without this file. It saves a reload here and a scroll there.

// A file dropped anywhere on the frame goes into its field.
for (const frame of document.querySelectorAll(".drop")) {
  const field = frame.querySelector("input[type=file]");
  const over = (on) => (event) => { event.preventDefault(); frame.classList.toggle("over", on); };
  frame.addEventListener("dragover", over(true));
  frame.addEventListener("dragleave", over(false));
  frame.addEventListener("drop", (event) => {
    over(false)(event);
    if (event.dataTransfer.files.length) field.files = event.dataTransfer.files;
  });
}

// What is wrong is read out and in sight.
const problem = document.querySelector(".problem");
if (problem) problem.focus();

// A button for what can be copied.
const words = document.querySelector("main").dataset;
for (const block of document.querySelectorAll("pre")) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "quiet";
  button.textContent = words.copy;
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(block.textContent);
    button.textContent = words.copied;
  });
  block.after(button);
}

// "Show what that means" without leaving the place: the server draws, this puts it in.
for (const button of document.querySelectorAll("button[data-looks]")) {
  button.addEventListener("click", async (event) => {
    event.preventDefault();
    button.disabled = true;
    const fields = new FormData(button.form);
    fields.set("go", "stay");
    const reply = await fetch(button.form.action, { method: "POST", body: fields });
    const page = new DOMParser().parseFromString(await reply.text(), "text/html");
    const place = document.querySelector(button.dataset.looks);
    const fresh = page.querySelector(button.dataset.looks);
    const wrong = page.querySelector(".problem");
    if (!reply.ok || !fresh || wrong) { location.assign(button.form.action); return; }
    place.replaceChildren(...fresh.childNodes);
    button.disabled = false;
  });
}

// What is typed is kept as it is typed: a reload loses nothing.
for (const form of document.querySelectorAll("form[data-keep]")) {
  let last;
  form.addEventListener("change", () => {
    const fields = new FormData(form);
    for (const field of form.querySelectorAll("input[type=file]")) fields.delete(field.name);
    fields.set("go", "keep");
    last?.abort();
    last = new AbortController();
    const sent = { method: "POST", body: fields, signal: last.signal, keepalive: true };
    fetch(form.getAttribute("data-keep"), sent).catch(() => {});
  });
  form.addEventListener("submit", () => last?.abort());
}

// A page that the browser shows again as it was may be older than what has happened since.
addEventListener("pageshow", (event) => { if (event.persisted) location.reload(); });

// One press is enough.
for (const button of document.querySelectorAll("button[data-once]")) {
  button.form.addEventListener("submit", () => setTimeout(() => { button.disabled = true; }));
}

// How far a run is, and whether something that takes long is there.
const list = document.querySelector("[data-watch]");
if (list) {
  const watch = async () => {
    try {
      const status = await (await fetch(list.dataset.watch)).json();
      if (status.ended) { location.reload(); return; }
      const doing = document.getElementById("doing");
      if (doing && doing.textContent !== status.doing) doing.textContent = status.doing;
      const waits = document.getElementById("waits");
      if (waits) waits.hidden = !status.waits;
      const cancel = document.getElementById("cancel");
      if (cancel) cancel.hidden = !status.stoppable;
      for (const item of list.children) {
        if (item.dataset.phase === status.phase) {
          item.setAttribute("aria-current", "step");
          const said = document.getElementById("phase");
          if (said.textContent !== item.textContent) said.textContent = item.textContent;
        } else item.removeAttribute("aria-current");
      }
    } catch { /* the page was stopped; the next look will tell */ }
    setTimeout(watch, 400);
  };
  watch();
}
