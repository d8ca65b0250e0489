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

/** What is compared on a thread: long texts in pieces that are handed over. Copied in one go they would keep everybody waiting. */
export type HandedToCompare = Omit<ToCompare, 'known' | 'next'> & {
  known: HandedRows | HandedState | null
  next: HandedRows
}

type HandedRows = Omit<RowsOfSnapshot, 'listJson'> & { listPieces: Uint8Array<ArrayBuffer>[] }

interface HandedState {
  statePieces: Uint8Array<ArrayBuffer>[]
}

const bytesPerStep = 1024 * 1024

/** The pieces are whoever's gets them. `nextTurn`: asked for before each. */
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

  async function handRows({ listJson, ...rows }: RowsOfSnapshot): Promise<HandedRows> {
    const listPieces: Uint8Array<ArrayBuffer>[] = []
    for (let from = 0; from < listJson.byteLength; from += bytesPerStep)
      listPieces.push(await handPiece(() => new Uint8Array(listJson.subarray(from, from + bytesPerStep))))
    return { ...rows, listPieces }
  }

  async function handState(texts: readonly string[]): Promise<HandedState> {
    const statePieces: Uint8Array<ArrayBuffer>[] = []
    for (const text of texts) statePieces.push(await handPiece(() => new TextEncoder().encode(text)))
    return { statePieces }
  }

  async function handPiece(make: () => Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>> {
    await nextTurn()
    const piece = make()
    handOver.push(piece.buffer)
    return piece
  }
}

export function takeHanded({ known, next, ...rest }: HandedToCompare): ToCompare {
  return {
    ...rest,
    known: known === null ? null : 'listPieces' in known ? takeRows(known) : takeState(known),
    next: takeRows(next),
  }
}

function takeRows({ listPieces, ...rows }: HandedRows): RowsOfSnapshot {
  return { ...rows, listJson: Buffer.concat(listPieces) }
}

function takeState({ statePieces }: HandedState): string[] {
  return statePieces.map((piece) => Buffer.from(piece.buffer).toString('latin1'))
}
