// SHA-256 (FIPS 180-4) at once: a transaction of the browser's store does not wait for a promise, and an entry must be
// chained inside the one that stores it. The constants are the first 32 bits of the fractional parts of the square roots
// of the first 8 primes and of the cube roots of the first 64.

const PRIMES = [];
for (let n = 2; PRIMES.length < 64; n += 1) if (PRIMES.every((p) => n % p)) PRIMES.push(n);

/** floor(2^32 frac(n^(1/root))) by whole numbers: a float's cube root may be an ulp off. */
function fraction(n, root) {
  const wanted = BigInt(n) << BigInt(32 * root);
  let low = 0n;
  for (let bit = 1n << 40n; bit; bit >>= 1n) if ((low + bit) ** BigInt(root) <= wanted) low += bit;
  return Number(low & 0xffffffffn);
}

const K = PRIMES.map((p) => fraction(p, 3));
const START = PRIMES.slice(0, 8).map((p) => fraction(p, 2));
const turn = (x, n) => (x >>> n) | (x << (32 - n));

function padded(bytes) {
  const blocks = new Uint8Array(Math.ceil((bytes.length + 9) / 64) * 64);
  blocks.set(bytes);
  blocks[bytes.length] = 0x80;
  const view = new DataView(blocks.buffer);
  view.setUint32(blocks.length - 8, Math.floor(bytes.length / 2 ** 29));
  view.setUint32(blocks.length - 4, (bytes.length * 8) >>> 0);
  return view;
}

function compress(state, view, at) {
  const w = new Int32Array(64);
  for (let t = 0; t < 64; t += 1) {
    if (t < 16) { w[t] = view.getInt32(at + 4 * t); continue; }
    const [a, b] = [w[t - 15], w[t - 2]];
    w[t] = (turn(b, 17) ^ turn(b, 19) ^ (b >>> 10)) + w[t - 7] + (turn(a, 7) ^ turn(a, 18) ^ (a >>> 3)) + w[t - 16];
  }
  let [a, b, c, d, e, f, g, h] = state;
  for (let t = 0; t < 64; t += 1) {
    const one = (h + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) + ((e & f) ^ (~e & g)) + K[t] + w[t]) | 0;
    const two = ((turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) + ((a & b) ^ (a & c) ^ (b & c))) | 0;
    [a, b, c, d, e, f, g, h] = [(one + two) | 0, a, b, c, (d + one) | 0, e, f, g];
  }
  return [a, b, c, d, e, f, g, h].map((word, i) => (word + state[i]) | 0);
}

/** SHA-256 of bytes, as bytes. */
export function sha256Bytes(bytes) {
  const view = padded(bytes);
  let state = START;
  for (let at = 0; at < view.byteLength; at += 64) state = compress(state, view, at);
  const found = new DataView(new ArrayBuffer(32));
  state.forEach((word, i) => found.setInt32(4 * i, word));
  return new Uint8Array(found.buffer);
}

/** HMAC-SHA-256 (RFC 2104) for keys of at most 64 bytes. */
export function hmacSha256(key, message) {
  const pad = (byte) => Uint8Array.from({ length: 64 }, (_, i) => (key[i] ?? 0) ^ byte);
  return sha256Bytes(joined(pad(0x5c), sha256Bytes(joined(pad(0x36), message))));
}

/** Bytes one after the other. */
export function joined(...parts) {
  const found = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) { found.set(part, at); at += part.length; }
  return found;
}

export const utf8 = (text) => new TextEncoder().encode(text);
export const bytesOf = (hex) => Uint8Array.from(hex.match(/../g) ?? [], (pair) => parseInt(pair, 16));
export const hexOf = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");

/** SHA-256 of a text (as UTF-8), in hexadecimal. */
export const sha256 = (text) => hexOf(sha256Bytes(utf8(text)));
