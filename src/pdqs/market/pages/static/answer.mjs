// The answer's page: the picture as a PNG file, and what a draft would buy, asked for when the page is there.

import { showForecast } from "./forecast.mjs";

const SCALE = 3;
const PAINT = ["fill", "stroke", "stroke-width", "stroke-linecap", "stroke-dasharray", "opacity", "font-family", "font-size", "font-weight"];

const MARGIN = 16;

/** Signs as people see them, each with its marks. */
const signsOf = (word) => (Intl.Segmenter ? [...new Intl.Segmenter().segment(word)].map(({ segment }) => segment) : [...word]);

/** A word in pieces that fit: an address, or a sentence of a language that is written without spaces. */
function pieces(word, fits) {
  const found = [""];
  for (const sign of fits(word) ? [word] : signsOf(word)) {
    if (found.at(-1) && !fits(found.at(-1) + sign)) found.push("");
    found[found.length - 1] += sign;
  }
  return found;
}

/** Words in lines that are no wider than this. */
function lines(text, width, font) {
  const pen = document.createElement("canvas").getContext("2d");
  pen.font = font;
  const fits = (words) => pen.measureText(words).width <= width;
  const found = [];
  for (const word of text.split(/\s+/).filter(Boolean).flatMap((each) => pieces(each, fits))) {
    const longer = `${found.at(-1) ?? ""} ${word}`.trim();
    if (found.length && fits(longer)) found[found.length - 1] = longer;
    else found.push(word);
  }
  return found;
}

/** Paragraphs as lines of text in a picture, from this height downwards; how far down they go. */
function write(into, paragraphs, top, width, { size, weight, colour, family }) {
  let y = top;
  for (const paragraph of paragraphs) {
    for (const line of lines(paragraph, width, `${weight} ${size}px ${family}`)) {
      const text = document.createElementNS(into.namespaceURI, "text");
      text.textContent = line;
      y += 1.4 * size;
      const look = { x: 0, y, fill: colour, "font-size": `${size}px`, "font-weight": weight, "font-family": family };
      for (const [name, value] of Object.entries(look)) text.setAttribute(name, value);
      into.append(text);
    }
    y += 0.4 * size;
  }
  return y;
}

/** A copy of a picture that carries its colours itself, its question above it and what it says in words below. */
function painted(svg, caption, words) {
  const copy = svg.cloneNode(true);
  const [from, to] = [svg, copy].map((root) => [root, ...root.querySelectorAll("*")]);
  from.forEach((element, place) => {
    const seen = getComputedStyle(element);
    for (const name of PAINT) to[place].setAttribute(name, seen.getPropertyValue(name));
  });
  const chart = svg.viewBox.baseVal;
  const { color: colour, fontFamily: family } = getComputedStyle(document.body);
  const [above, below] = [document.createElementNS(svg.namespaceURI, "g"), document.createElementNS(svg.namespaceURI, "g")];
  const head = write(above, [caption], 0, chart.width, { size: 14, weight: 600, colour, family }) + 6;
  above.setAttribute("transform", `translate(0 ${-head})`);
  const foot = write(below, words, chart.height + 4, chart.width, { size: 11, weight: 400, colour, family });
  copy.append(above, below);
  const [width, height] = [chart.width + 2 * MARGIN, head + foot + 2 * MARGIN];
  copy.setAttribute("viewBox", `${-MARGIN} ${-head - MARGIN} ${width} ${height}`);
  copy.setAttribute("width", String(width));
  copy.setAttribute("height", String(height));
  return { copy, width, height };
}

async function download(button) {
  const svg = button.closest(".answer").querySelector("svg.chart");
  const { copy, width, height } = painted(svg, button.dataset.caption, button.dataset.words.split("\n"));
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
