import type { Cell } from '../../grid.ts'
import type { Column } from '../../table.ts'
import { ColumnEntries, emptyEntry, falseEntry, trueEntry } from './column-entries.ts'
import {
  alignBytes,
  arrayOfSize,
  type Codes,
  type ColumnIndexes,
  codeBytes,
  columnFacts,
  factAt,
  seen,
} from './column-index.ts'
import { rankNumbers, rankTexts } from './rank-cells.ts'

/** Rows whose cells are still at hand for the next column: a column at a time through all would fetch them anew. */
const blockRows = 256

/** The worker's part: makes the codes of all columns of the listed rows. */
export function indexColumns(columns: readonly Column[], rows: readonly (readonly Cell[])[]): ColumnIndexes {
  const collected = columns.map(({ index }) => new ColumnEntries(index, rows.length))
  for (let from = 0; from < rows.length; from += blockRows)
    for (const entries of collected) entries.add(rows, from, Math.min(from + blockRows, rows.length))

  const facts = new Uint32Array(columns.length * columnFacts)
  let bytes = 0
  const indexed = collected.map((entries, at) => {
    const column = indexColumn(entries)
    entries.letGo()
    facts[at * columnFacts + factAt.start] = bytes
    facts[at * columnFacts + factAt.numbers] = column.numbers
    facts[at * columnFacts + factAt.texts] = column.texts
    facts[at * columnFacts + factAt.kinds] = column.kinds
    bytes += alignBytes(column.codes.byteLength) + column.positionOfCode.byteLength
    return column
  })
  const all = new Uint8Array(bytes)
  let end = 0
  for (const { codes, positionOfCode } of indexed) {
    all.set(bytesOf(codes), end)
    end += alignBytes(codes.byteLength)
    all.set(bytesOf(positionOfCode), end)
    end += positionOfCode.byteLength
  }
  return { codes: all, facts }
}

function indexColumn({ texts, numbers, entryOfRow }: ColumnEntries) {
  const rankedNumbers = rankNumbers(numbers)
  const rankedTexts = rankTexts(texts)
  const specials = specialKinds(entryOfRow)
  const textsFrom = rankedNumbers.count
  const falseCode = textsFrom + rankedTexts.count
  const trueCode = falseCode + (specials & seen.false ? 1 : 0)
  const emptyCode = trueCode + (specials & seen.true ? 1 : 0)
  const codes = new arrayOfSize[codeBytes(emptyCode)](entryOfRow.length)
  const positionOfCode = new Uint32Array(emptyCode)
  for (let row = 0; row < entryOfRow.length; row++) {
    const entry = entryOfRow[row] ?? 0
    let code = emptyCode
    if (entry < falseEntry)
      code =
        entry & 1
          ? (rankedNumbers.ranks[entry >>> 1] ?? 0)
          : textsFrom + (rankedTexts.ranks[entry >>> 1] ?? 0)
    else if (entry !== emptyEntry) code = entry === trueEntry ? trueCode : falseCode
    codes[row] = code
    if (code !== emptyCode) positionOfCode[code] = row
  }
  const kinds = rankedNumbers.kinds | rankedTexts.kinds | specials
  return { codes, positionOfCode, numbers: rankedNumbers.count, texts: rankedTexts.count, kinds }
}

function specialKinds(entryOfRow: Uint32Array): number {
  let kinds = 0
  for (let row = 0; row < entryOfRow.length; row++) {
    const entry = entryOfRow[row] ?? 0
    if (entry < falseEntry) continue
    if (entry === emptyEntry) kinds |= seen.empty
    else kinds |= entry === trueEntry ? seen.true : seen.false
  }
  return kinds
}

function bytesOf({ buffer, byteOffset, byteLength }: Codes): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength)
}
