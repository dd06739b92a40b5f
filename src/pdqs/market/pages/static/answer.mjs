// The answer's page: the picture as a PNG file, and what a draft would buy, asked for when the page is there.

import { showForecast } from "./forecast.mjs";

const SCALE = 3;
const PAINT = ["fill", "stroke", "stroke-width", "stroke-linecap", "stroke-dasharray", "opacity", "font-family", "font-size", "font-weight"];

/** A copy of a picture that carries its colours itself, with its caption above it. */
function painted(svg, caption) {
  const copy = svg.cloneNode(true);
  const [from, to] = [svg, copy].map((root) => [root, ...root.querySelectorAll("*")]);
  from.forEach((element, place) => {
    const seen = getComputedStyle(element);
    for (const name of PAINT) to[place].setAttribute(name, seen.getPropertyValue(name));
  });
  const { width, height } = svg.viewBox.baseVal;
  const words = document.createElementNS(svg.namespaceURI, "text");
  words.textContent = caption.length > 60 ? `${caption.slice(0, 59)}…` : caption;
  const look = getComputedStyle(document.body);
  for (const [name, value] of Object.entries({ x: 0, y: -14, fill: look.color, "font-size": "13px", "font-family": look.fontFamily })) words.setAttribute(name, value);
  copy.append(words);
  copy.setAttribute("viewBox", `-16 -44 ${width + 32} ${height + 60}`);
  copy.setAttribute("width", String(width + 32));
  copy.setAttribute("height", String(height + 60));
  return { copy, width: width + 32, height: height + 60 };
}

async function download(button) {
  const svg = button.closest(".answer").querySelector("svg.chart");
  const { copy, width, height } = painted(svg, button.dataset.caption);
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(new XMLSerializer().serializeToString(copy))}`;
  await image.decode();
  const canvas = Object.assign(document.createElement("canvas"), { width: width * SCALE, height: height * SCALE });
  const pen = canvas.getContext("2d");
  pen.fillStyle = getComputedStyle(button.closest(".card")).backgroundColor;
  pen.fillRect(0, 0, canvas.width, canvas.height);
  pen.drawImage(image, 0, 0, canvas.width, canvas.height);
  const link = Object.assign(document.createElement("a"), { href: canvas.toDataURL("image/png"), download: `${button.dataset.picture}.png` });
  link.click();
}

document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-picture]");
  if (button) download(button);
});

function offer() {
  for (const button of document.querySelectorAll("[data-picture][hidden]")) {
    button.hidden = !button.closest(".answer").querySelector("svg.chart");
    if (button.hidden) button.remove();
  }
}

async function preview() {
  const place = document.querySelector("[data-preview]");
  if (!place) return;
  try {
    await showForecast(place, place.dataset.preview);
  } catch {
    // Out of reach: the link to the plan stays.
  }
}

offer();
preview();
new MutationObserver(offer).observe(document.getElementById("progress"), { childList: true });
