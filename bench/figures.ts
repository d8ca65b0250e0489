import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { FlooredFigure } from './floored.ts'
import { noFloor, type Outcome } from './summary.ts'

/** What was measured last of one row; a run that has other rows leaves it as it was. */
export interface RecordedRow {
  row: string
  /** The day, for people. */
  day: string
  said: string
  floored: readonly FlooredFigure[]
}

const recordFile = join(import.meta.dirname, 'figures.json')
const resultsFile = join(import.meta.dirname, 'RESULTS.md')
const begin = '<!-- npm run bench -- --record writes what follows -->'
const end = '<!-- the end of what it writes -->'

/** Puts what was measured in the place of what an earlier run had; `rowNames`: all that the bench has, in its order. */
export function recordFigures(outcomes: readonly Outcome[], rowNames: readonly string[]): void {
  const day = new Date().toISOString().slice(0, 10)
  const measured = outcomes.flatMap((outcome) =>
    outcome.became === 'measured'
      ? [{ row: outcome.row, day, said: outcome.said, floored: outcome.floored }]
      : [],
  )
  const former = JSON.parse(readFileSync(recordFile, 'utf8')) as RecordedRow[]
  const records = withMeasured(former, measured, rowNames)
  writeFileSync(recordFile, `${JSON.stringify(records, null, 2)}\n`)
  const results = readFileSync(resultsFile, 'utf8')
  const [from, to] = [results.indexOf(begin), results.indexOf(end)]
  if (from < 0 || to < from) throw new Error(`RESULTS.md lacks ${begin} or ${end}`)
  const table = figuresTable(records, rowNames)
  writeFileSync(resultsFile, `${results.slice(0, from)}${begin}\n\n${table}\n\n${results.slice(to)}`)
}

/** A row that the bench has no more is left out with what it once had. */
export function withMeasured(
  former: readonly RecordedRow[],
  measured: readonly RecordedRow[],
  rowNames: readonly string[],
): RecordedRow[] {
  return rowNames.flatMap((name) => {
    const isThis = ({ row }: RecordedRow) => row === name
    return measured.find(isThis) ?? former.find(isThis) ?? []
  })
}

/** Each figure once, with the day on which it was measured last; rows that never were say so. */
export function figuresTable(records: readonly RecordedRow[], rowNames: readonly string[]): string {
  const lines = rowNames.flatMap((name) => {
    const record = records.find(({ row }) => row === name)
    return record ? linesOf(record) : [`| ${name} | not recorded yet | | | |`]
  })
  return ['| | figure | floor | | measured on |', '|---|---|---|---|---|', ...lines].join('\n')
}

function linesOf({ row, day, said, floored }: RecordedRow): string[] {
  const more = said.split('\n').map((line) => line.trim().replaceAll(/ {2,}/g, ' ').replaceAll('|', '\\|'))
  const figures = floored.map(
    ({ name, figure, floor, isReached }) =>
      `| | ${name}: **${figure}** | ${floor} | ${isReached ? 'reached' : '**MISSED**'} | |`,
  )
  const head = `| **${row}** | ${more.join('<br>')} |${floored.length === 0 ? ` ${noFloor} ` : ' '}| | ${day} |`
  return [head, ...figures]
}
