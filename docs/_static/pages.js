// SPDX-License-Identifier: Apache-2.0
// What all pages have in common; make-docs puts FRAMES and TREES in front of this.
"use strict";
function frame(root, page, frame_number, tree) {   // while the page is read
  const place = text => text.replaceAll('"~/', '"' + root);
  document.write(place(FRAMES[frame_number].replace("~tree~", () => TREES[tree])));
  const current = [...document.querySelectorAll(".sidebar-tree a")].find(a => a.getAttribute("href") === root + page);
  if (current) current.classList.add("current");
  for (let item = current && current.parentElement; item && !item.matches(".sidebar-tree"); item = item.parentElement)
    if (item.matches("li")) {
      item.classList.add("current");
      if (item === current.parentElement) item.classList.add("current-page");
      const box = item.querySelector(":scope > input");
      if (box) box.checked = true;
    }
}
addEventListener("DOMContentLoaded", () => {       // a link to each name and heading
  for (const target of document.querySelectorAll("dt.sig[id], section[id] > h1, section[id] > h2, section[id] > h3, section[id] > h4")) {
    const link = document.createElement("a");
    link.className = "headerlink";
    link.href = "#" + (target.id || target.parentElement.id);
    link.textContent = "\u00b6";
    target.append(link);
  }
});
