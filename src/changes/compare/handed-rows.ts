import { copyInTurns } from '../../sheets/threads/copied-bytes.ts'
import type { RowsOfSnapshot } from './tab-rows.ts'

export interface ToCompare {
  /** Rows as they were at some place of the log: of a snapshot, or the texts of a state; null where there are none. */
  known: RowsOfSnapshot | readonly string[] | null
  /** Chunks of the log since then, as bytes: many of them are handed over, where texts would be copied. */
  since: readonly Uint8Array<ArrayBuffer>[]
  next: RowsOfSnapshot
  keyColumn: string | null
  /** What was written nobody knows where. */
  unplaced: string | null
  /** It cannot be told what came between. */
  mustReset: boolean
  /** The rows as a state, wanted in any case. */
  wantsState: boolean
}

/** What is compared on a thread: long texts that are handed over. Copied in one go they would keep everybody waiting. */
export type HandedToCompare = Omit<ToCompare, 'known'> & {
  known: RowsOfSnapshot | HandedState | null
}

interface HandedState {
  statePieces: Uint8Array<ArrayBuffer>[]
}

/** The copies are whoever's gets them. `nextTurn`: asked for before each piece of them. */
export async function handToCompare(
  { known, next, ...rest }: ToCompare,
  nextTurn: () => Promise<void>,
): Promise<{ input: HandedToCompare; handOver: ArrayBuffer[] }> {
  const handOver = rest.since.map(({ buffer }) => buffer)
  const input = {
    ...rest,
    known: known === null ? null : 'listJson' in known ? await handRows(known) : await handState(known),
    next: await handRows(next),
  }
  return { input, handOver }

  async function handRows({ columns, ...rows }: RowsOfSnapshot): Promise<RowsOfSnapshot> {
    const listJson = await handCopy(rows.listJson)
    const rowStarts = new Uint32Array((await handCopy(rows.rowStarts)).buffer)
    const rowNumbers = new Uint32Array((await handCopy(rows.rowNumbers)).buffer)
    return { columns, listJson, rowStarts, rowNumbers }
  }

  async function handCopy({
    buffer,
    byteOffset,
    byteLength,
  }: Uint8Array | Uint32Array): Promise<Uint8Array<ArrayBuffer>> {
    const copy = await copyInTurns(new Uint8Array(buffer, byteOffset, byteLength), nextTurn)
    handOver.push(copy.buffer)
    return copy
  }

  async function handState(texts: readonly string[]): Promise<HandedState> {
    const statePieces: Uint8Array<ArrayBuffer>[] = []
    for (const text of texts) {
      await nextTurn()
      const piece = new TextEncoder().encode(text)
      handOver.push(piece.buffer)
      statePieces.push(piece)
    }
    return { statePieces }
  }
}

export function takeHanded({ known, ...rest }: HandedToCompare): ToCompare {
  return { ...rest, known: known !== null && 'statePieces' in known ? takeState(known) : known }
}

function takeState({ statePieces }: HandedState): string[] {
  return statePieces.map((piece) => Buffer.from(piece.buffer).toString('latin1'))
}
