// SPDX-License-Identifier: MIT
// Says what a reader would stumble over: parts wider than the window, labels of pictures that overlap or are cut off.
addEventListener("load", () => {
  const found = [];
  const width = document.documentElement.clientWidth;
  const rows = document.documentElement.scrollWidth;
  if (rows > width) found.push(`the page is ${rows} wide`);
  for (const one of document.querySelectorAll("body *")) {
    const box = one.getBoundingClientRect();
    if (box.right > width + 1 && !one.closest(".scroll") && box.width > 0) {
      found.push(`${one.tagName} ${one.className.baseVal ?? one.className} ends at ${box.right}`);
    }
  }
  for (const picture of document.querySelectorAll("figure svg")) {
    const whole = picture.getBoundingClientRect();
    const labels = [...picture.querySelectorAll("text")].map((one) => [one.textContent, one.getBoundingClientRect()]);
    const title = picture.querySelector("title").textContent;
    labels.forEach(([words, box], n) => {
      if (box.left < whole.left - 1 || box.right > whole.right + 1 || box.top < whole.top - 1 ||
          box.bottom > whole.bottom + 1) {
        found.push(`'${words}' is cut off in '${title}'`);
      }
      for (const [others, other] of labels.slice(n + 1)) {
        const across = Math.min(box.right, other.right) - Math.max(box.left, other.left);
        const down = Math.min(box.bottom, other.bottom) - Math.max(box.top, other.top);
        if (across > 0.5 && down > 3) found.push(`'${words}' overlaps '${others}' in '${title}'`);
      }
    });
  }
  const pictures = document.querySelectorAll("figure svg").length;
  const some = found.slice(0, 20).join("; ");
  document.title = `MEASURED ${innerWidth} wide, ${pictures} pictures, ${found.length} faults, ${some}.`;
});
