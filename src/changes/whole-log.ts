import type { Soon } from '../soon.ts'
import { changeJson, changeParts } from './change-json.ts'
import { piecesOf } from './long-text.ts'
import { nullIfGone } from './read-entries.ts'
import { everyChange, type ReadingChanges, type ToldChange } from './reading-changes.ts'

const changesTogether = 500
/** What is made ahead of its reader. A single change may be longer. */
const pieceCharacters = 64 * 1024

/**
 * All that is kept of a sheet's log, as JSON texts of a few changes each, or the pieces of a very long one, read while it is sent and
 * with a turn for each page. What is forgotten meanwhile is left out, and so is what a new log has; only a very long change that is
 * forgotten in the middle of it ends the answer, with `GoneMeanwhile`.
 */
export async function* wholeLog(
  sheetId: string,
  changes: Pick<ReadingChanges, 'positionOf' | 'after'>,
  nextTurn: () => Soon<void>,
): AsyncGenerator<string[] | AsyncIterable<Uint8Array>> {
  const position = await changes.positionOf(sheetId)
  if (position?.epoch == null) return
  const { epoch } = position
  for (let place = { epoch, seq: position.floor }; ; ) {
    await nextTurn()
    const read = await changes.after(sheetId, place, { ...everyChange, limit: changesTogether })
    yield* inPieces(read.changes, nextTurn)
    const now = read.over === 'expired' ? await changes.positionOf(sheetId) : null
    if (now?.epoch === epoch && now.floor > place.seq) place = { epoch, seq: now.floor }
    else if (read.over || read.changes.length === 0) return
    else place = { epoch, seq: read.next.seq }
  }
}

async function* inPieces(
  changes: Iterable<ToldChange>,
  nextTurn: () => Soon<void>,
): AsyncGenerator<string[] | AsyncIterable<Uint8Array>> {
  let piece: string[] = []
  let characters = 0
  for (const told of changes) {
    if (told.long) {
      if (piece.length > 0) yield piece
      piece = []
      characters = 0
      const begun = await beginText(piecesOf(changeParts(told), nextTurn))
      if (begun) yield begun
      continue
    }
    const text = changeJson(told)
    piece.push(text)
    characters += text.length
    if (characters < pieceCharacters) continue
    yield piece
    piece = []
    characters = 0
  }
  if (piece.length > 0) yield piece
}

/** null where it was forgotten before anything of it was told. What comes first is no part of a long text, and always there. */
async function beginText(pieces: AsyncGenerator<Uint8Array>): Promise<AsyncIterable<Uint8Array> | null> {
  const first = await pieces.next()
  const second = await nullIfGone(pieces.next())
  if (!second || first.done || second.done) return null
  return withBeginning([first.value, second.value], pieces)
}

async function* withBeginning(
  beginning: readonly Uint8Array[],
  rest: AsyncGenerator<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  try {
    yield* beginning
    yield* rest
  } finally {
    await rest.return(undefined)
  }
}
