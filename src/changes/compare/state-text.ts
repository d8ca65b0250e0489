import { constants as limits } from 'node:buffer'
import { constants, createZstdCompress, zstdCompressSync, zstdDecompressSync } from 'node:zlib'
import { blankOf, type RowsOfSnapshot, type TabRows } from './tab-rows.ts'

/*
 * A tab as the store keeps it: names in the first line, then a row a line, for JSON has no line breaks of its own. A blank row is an
 * empty line, for a single row may have a million of them above it, and names of 128 KB. Compressed: a list repeats the names in every row.
 */

/**
 * Before the names, where a blank row is an empty line. Instances of a version that does not know of that, and take it for a row that has no
 * text, can read no such state, which is better than to tell of such rows.
 */
const blanksMark = 'blanks '

export function stateText({ names, rows }: TabRows): string[] {
  const blank = blankOf({ names })
  const lines = rows.map((row) => (row === blank ? '' : row))
  const compressed = zstdCompressSync([namesLine(names, lines.includes('')), ...lines].join('\n'))
  const pieces: string[] = []
  for (let from = 0; from < compressed.byteLength; from += pieceBytes)
    pieces.push(compressed.toString('base64', from, from + pieceBytes))
  return pieces
}

/** `expectedBytes`: how long the rows are now, as far as that is known; where they fit, they are in memory once. */
export function readState(pieces: readonly string[], expectedBytes = 0): TabRows {
  const chunkSize = Math.max(constants.Z_DEFAULT_CHUNK, expectedBytes + slackBytes)
  const text = zstdDecompressSync(joinPieces(pieces), { chunkSize })
  const lines = linesOf(text)
  const first = lines.next().value ?? '[]'
  const names = JSON.parse(first.startsWith(blanksMark) ? first.slice(blanksMark.length) : first) as string[]
  const blank = blankOf({ names })
  const rows: string[] = []
  for (const line of lines) rows.push(line === '' ? blank : line)
  // Gone at once, and not when somebody collects: it is as long as all rows. A short one may share its memory with others.
  if (text.byteLength > bytesPerText) (text.buffer as ArrayBuffer).transfer(0)
  return { names, rows }
}

function namesLine(names: readonly string[], hasBlanks: boolean): string {
  return `${hasBlanks ? blanksMark : ''}${JSON.stringify(names)}`
}

/** Whether it has no more than so many bytes when it is read. To find out takes no longer than to read so much. */
export function isShortState(pieces: readonly string[], mostBytes: number): boolean {
  if (pieces.reduce((sum, { length }) => sum + length, 0) > mostBytes) return false
  try {
    zstdDecompressSync(joinPieces(pieces), { maxOutputLength: mostBytes })
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') return false
    throw error
  }
}

function joinPieces(pieces: readonly string[]): Buffer {
  return Buffer.concat(pieces.map((piece) => Buffer.from(piece, 'base64')))
}

/** A tab hardly grows by more between two looks. */
const slackBytes = 64 * 1024
/** Lines are parts of texts of this length. One text of all would have two bytes for each character if one needs them. */
const bytesPerText = 256 * 1024

function* linesOf(text: Buffer): Generator<string> {
  for (let from = 0; from <= text.byteLength; ) {
    const last = text.lastIndexOf(lineBreak, from + bytesPerText)
    const found = last >= from ? last : text.indexOf(lineBreak, from)
    const to = found === -1 || from + bytesPerText >= text.byteLength ? text.byteLength : found
    yield* text.toString('utf8', from, to).split('\n')
    from = to + 1
  }
}

/** Each is a text by itself, of some 256 KB. */
const pieceBytes = 192 * 1024

/** A copy of so much takes well below a millisecond of the thread that serves everyone. */
const bytesPerStep = 512 * 1024
/** Rows repeat so much that more pains hardly make them shorter, and whoever reads a sheet first waits for this. */
const level = { params: { [constants.ZSTD_c_compressionLevel]: 1 } }

/**
 * `stateText` of rows that were just read. In steps, and compressed on Node's own threads: that of large files is busy with the
 * indexes of the same rows then, and whoever waits for these rows need not wait for those.
 */
export async function stateOfRows(rows: RowsOfSnapshot, isKeyed: boolean): Promise<string[]> {
  const zstd = createZstdCompress(level)
  const compressed = piecesIn(zstd)
  // Whoever writes hears of it too.
  compressed.catch(() => {})
  try {
    let bytes = 0
    for (const step of stepsOf(rows, isKeyed)) {
      bytes += step.byteLength
      // It could not be read again: that is one text.
      if (bytes > limits.MAX_STRING_LENGTH) throw new RangeError('The rows are too long for one text')
      await new Promise<void>((resolve, reject) =>
        zstd.write(step, (error) => (error ? reject(error) : resolve())),
      )
    }
    zstd.end()
    return await compressed
  } finally {
    zstd.destroy()
  }
}

async function piecesIn(compressed: AsyncIterable<Buffer>): Promise<string[]> {
  const pieces: string[] = []
  let [waiting, bytes]: [Buffer[], number] = [[], 0]
  for await (const chunk of compressed) {
    waiting.push(chunk)
    bytes += chunk.byteLength
    if (bytes < pieceBytes) continue
    pieces.push(Buffer.concat(waiting).toString('base64'))
    ;[waiting, bytes] = [[], 0]
  }
  if (bytes > 0) pieces.push(Buffer.concat(waiting).toString('base64'))
  return pieces
}

const lineBreak = 0x0a

/**
 * Pieces of the list, each comma between two rows made into a line break, and before rows those of the blank ones above them. What is
 * yielded is good until the next is asked for: buffers of all rows together would have the runtime look for garbage several times.
 */
function* stepsOf(rows: RowsOfSnapshot, isKeyed: boolean): Generator<Uint8Array> {
  const { columns, listJson, rowStarts, rowNumbers } = rows
  let step = Buffer.alloc(bytesPerStep)
  let used = 0
  const names = columns.map(({ key }) => key)
  // The numbers begin with that of the row below the header.
  const hasBlanks = !isKeyed && (rowNumbers.at(-1) ?? 1) > rowNumbers.length + 1
  yield Buffer.from(namesLine(names, hasBlanks))
  for (let from = 0; from < rowNumbers.length; ) {
    for (let blanks = isKeyed ? 0 : blanksBefore(from); blanks > 0; ) {
      if (used === step.byteLength) {
        yield step
        used = 0
      }
      const end = Math.min(used + blanks, step.byteLength)
      step.fill(lineBreak, used, end)
      blanks -= end - used
      used = end
    }
    const start = startOf(from)
    let to = from + 1
    while (to < rowNumbers.length && startOf(to + 1) - start <= bytesPerStep && !hasBlanksBefore(to)) to++
    const length = startOf(to) - start
    if (used + length > step.byteLength) {
      yield step.subarray(0, used)
      used = 0
      if (length > step.byteLength) step = Buffer.alloc(length)
    }
    // With what stands before each row, the bracket of the list or a comma.
    step.set(listJson.subarray(start - 1, start - 1 + length), used)
    for (let at = from; at < to; at++) step[used + startOf(at) - start] = lineBreak
    used += length
    from = to
  }
  yield step.subarray(0, used)

  function startOf(at: number): number {
    return rowStarts[at] ?? 0
  }

  function hasBlanksBefore(at: number): boolean {
    return !isKeyed && blanksBefore(at) > 0
  }

  /** Rows above the first and between two that have nothing in them keep their numbers. */
  function blanksBefore(at: number): number {
    const before = at === 0 ? 1 : (rowNumbers[at - 1] ?? 0)
    return (rowNumbers[at] ?? 0) - before - 1
  }
}
