/** A copy of so much takes well below a millisecond of the thread that answers everybody. */
const bytesPerTurn = 256 * 1024

/** What goes to a thread while others go on reading it here. In one piece: put together over there, it would be in memory twice. */
export async function copyInTurns(
  bytes: Uint8Array,
  nextTurn: () => Promise<unknown>,
): Promise<Uint8Array<ArrayBuffer>> {
  const copy = new Uint8Array(bytes.byteLength)
  for (let from = 0; from < bytes.byteLength; from += bytesPerTurn) {
    await nextTurn()
    copy.set(bytes.subarray(from, from + bytesPerTurn), from)
  }
  return copy
}
