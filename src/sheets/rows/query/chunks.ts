export const chunkBytes = 64 * 1024
/** Shorter pieces are copied by hand: the call would take longer. */
const shortBytes = 24

/** Gathers bytes into chunks of 64 KiB; only the first may have been made smaller. */
export class Chunks {
  #full: Uint8Array[] = []
  #chunk: Buffer
  #end = 0
  #bytesBefore = 0

  constructor(likelyBytes: number) {
    this.#chunk = Buffer.allocUnsafeSlow(Math.min(Math.max(likelyBytes, 64), chunkBytes))
  }

  /** All that was gathered, also what was taken since. */
  get length(): number {
    return this.#bytesBefore + this.#end
  }

  get hasFull(): boolean {
    return this.#full.length > 0
  }

  byte(byte: number): void {
    if (this.#end === this.#chunk.length) this.#next()
    this.#chunk[this.#end++] = byte
  }

  ascii(text: string): void {
    for (let at = 0; at < text.length; at++) this.byte(text.charCodeAt(at))
  }

  bytes(source: Uint8Array, start: number, end: number): void {
    let from = start
    while (from < end) {
      if (this.#end === this.#chunk.length) this.#next()
      const to = Math.min(end, from + this.#chunk.length - this.#end)
      if (to - from > shortBytes) this.#chunk.set(source.subarray(from, to), this.#end)
      else for (let at = from; at < to; at++) this.#chunk[this.#end + at - from] = source[at] ?? 0
      this.#end += to - from
      from = to
    }
  }

  takeFull(): Uint8Array[] {
    const full = this.#full
    this.#full = []
    return full
  }

  /** What was gathered, also what fills no piece; what comes next is written behind it. */
  takeSoFar(): Uint8Array[] {
    const all = this.takeAll()
    this.#bytesBefore += this.#end
    this.#chunk = this.#chunk.subarray(this.#end)
    this.#end = 0
    return all
  }

  takeAll(): Uint8Array[] {
    const rest = this.#chunk.subarray(0, this.#end)
    return this.#end === 0 ? this.takeFull() : [...this.takeFull(), rest]
  }

  #next(): void {
    this.#bytesBefore += this.#chunk.length
    if (this.#chunk.length > 0) this.#full.push(this.#chunk)
    this.#chunk = Buffer.allocUnsafeSlow(chunkBytes)
    this.#end = 0
  }
}
