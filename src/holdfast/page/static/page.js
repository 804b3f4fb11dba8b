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
for (const block of document.querySelectorAll("pre:has(code)")) {
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

// A page that the browser shows again as it was may be older than what has happened since.
addEventListener("pageshow", (event) => { if (event.persisted) location.reload(); });

// One press is enough.
for (const button of document.querySelectorAll("button[data-once]")) {
  button.form.addEventListener("submit", () => setTimeout(() => { button.disabled = true; }));
}

// How far a run is.
const list = document.querySelector("[data-watch]");
if (list) {
  const watch = async () => {
    try {
      const status = await (await fetch(list.dataset.watch)).json();
      if (status.ended) { location.reload(); return; }
      document.getElementById("waits").hidden = !status.waits;
      document.getElementById("cancel").hidden = !status.stoppable;
      const bar = document.getElementById("share");
      if (typeof status.share === "number") bar.value = status.share;
      else bar.removeAttribute("value");
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
