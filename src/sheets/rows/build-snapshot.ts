import { hash } from 'node:crypto'
import { ProviderFailure } from '../provider-failure.ts'
import type { Cell, Grid, PackedParts } from './grid.ts'
import type { ListedRows } from './listed-rows.ts'
import { refuseLongSheet } from './most-rows.ts'
import { indexColumns } from './query/columns/index-columns.ts'
import { createRowWriter, type EmptyCell, writeList } from './row-json.ts'
import { describeRows } from './schema/row-description.ts'
import {
  bytesOfBuffers,
  type IndexedSnapshot,
  type MadeLater,
  maxRowBytes,
  rowBuffers,
  rowBytes,
  type Snapshot,
  withIndexes,
} from './snapshot.ts'
import { type StaleColumn, staleColumnsOf } from './stale-results.ts'
import { type Column, isBlank, lastRowWithData, servedColumnsOf } from './table.ts'

const mebibyte = 1024 * 1024
const maxListBytes = 512 * mebibyte
/** Rows of so much are small, whatever they come from. */
const smallListBytes = 64 * mebibyte
/**
 * As JSON, rows of usual names and cells have two to three times the length of their CSV file; up to sixteen times that of the parts of a workbook which
 * they were read from, and up to four times that when these are unpacked, for what repeats is there once.
 */
const timesLonger = { text: 3, packed: 16, unpacked: 4 }

/**
 * Every row repeats every header, so a small file can make a very large list: one of 140 KB 500 MB. What accounts may have in memory is
 * judged by the length of their files. A picture in a workbook is no reason for long rows, nor is what can be packed to nothing.
 */
export function longestListOf(fileBytes: number, parts?: PackedParts): number {
  const likely = parts
    ? Math.min(parts.packedBytes * timesLonger.packed, parts.unpackedBytes * timesLonger.unpacked)
    : fileBytes * timesLonger.text
  return Math.min(maxListBytes, smallListBytes + likely)
}

type Values = 'typed' | 'formatted'

export function buildSnapshot(grid: Grid, values: Values = 'typed'): IndexedSnapshot {
  const { snapshot, index } = buildRows(grid, values)
  return withIndexes(snapshot, index())
}

/** The rows at once, and their indexes when asked for. */
export function buildRows(
  grid: Grid,
  values: Values,
  mostBytes = maxListBytes,
): { snapshot: Snapshot; cells: number; index(): MadeLater } {
  const emptyCell = emptyCellOf(values)
  const columns = servedColumnsOf(grid)
  const lastRowNumber = lastRowWithData(grid)
  refuseLongSheet(lastRowNumber)
  const rowNumbers = numbersOfFilledRows(grid, lastRowNumber)
  // Told before the first byte is made, where the headers alone are too much.
  if (blankRowOf(columns, values).length * rowNumbers.length > mostBytes) throw tooLarge(mostBytes)
  const rows = Array.from(rowNumbers, (number) => grid.rows[number - 1] ?? [])
  const list = writeList(columns, rows, mostBytes, emptyCell)
  if (!list) throw tooLarge(mostBytes)
  const stale = staleColumnsOf(grid, columns, rowNumbers)
  const snapshot = snapshotOf({ ...list, columns, rowNumbers, lastRowNumber }, stale, values)
  // Those of the snapshot may be on their way to another thread when the index is made.
  const keptNumbers = rowNumbers.slice()
  return {
    snapshot,
    cells: rows.length * columns.length,
    index: () => indexRows(columns, rows, { rowNumbers: keptNumbers, stale }, values),
  }
}

/** Where the list is there already, the cells are asked for when they are indexed. */
export function buildListed(
  listed: ListedRows,
  takeApart: () => Grid | Promise<Grid>,
  values: Values,
  mostBytes = maxListBytes,
): { snapshot: Snapshot; cells: number; index(): Promise<MadeLater> } {
  const { columns } = listed
  refuseLongSheet(listed.lastRowNumber)
  if (listed.listJson.byteLength > mostBytes) throw tooLarge(mostBytes)
  const rowNumbers = listed.rowNumbers.slice()
  return {
    snapshot: snapshotOf(listed, [], values),
    cells: rowNumbers.length * columns.length,
    async index() {
      const grid = await takeApart()
      const rows = Array.from(rowNumbers, (number) => grid.rows[number - 1] ?? [])
      return indexRows(columns, rows, { rowNumbers, stale: [] }, values)
    },
  }
}

function snapshotOf(listed: ListedRows, stale: StaleColumn[], values: Values): Snapshot {
  const { columns, listJson, rowNumbers } = listed
  refuseLongRow(listed, rowNumbers)
  const staleBytes = stale.reduce((sum, column) => sum + column.rowNumbers.byteLength, 0)
  return {
    ...listed,
    stale,
    blankRowJson: blankRowOf(columns, values),
    contentHash: contentHash(columns, listJson, rowNumbers, stale),
    sizeInBytes: bytesOfBuffers(rowBuffers(listed)) + staleBytes,
  }
}

function indexRows(
  columns: readonly Column[],
  rows: readonly (readonly Cell[])[],
  facts: { rowNumbers: Uint32Array; stale: readonly StaleColumn[] },
  values: Values,
): MadeLater {
  const indexes = indexColumns(columns, rows)
  return { indexes, description: describeRows(columns, rows, indexes, facts, values) }
}

function blankRowOf(columns: readonly Column[], values: Values): string {
  return createRowWriter(columns, emptyCellOf(values))([])
}

export function emptyCellOf(values: Values): EmptyCell {
  return values === 'formatted' ? '' : null
}

function numbersOfFilledRows({ rows, uncalculated }: Grid, lastRowNumber: number): Uint32Array<ArrayBuffer> {
  const numbers = new Uint32Array(lastRowNumber)
  let count = 0
  for (let number = 2; number <= lastRowNumber; number++)
    if (!isBlank(rows[number - 1] ?? []) || uncalculated?.has(number - 1)) numbers[count++] = number
  return numbers.slice(0, count)
}

function refuseLongRow(list: Pick<Snapshot, 'rowStarts'>, rowNumbers: Uint32Array): void {
  for (let at = 0; at < rowNumbers.length; at++) {
    if (rowBytes(list, at) <= maxRowBytes) continue
    throw new ProviderFailure(
      `row ${rowNumbers[at]} has more than ${maxRowBytes / 1024 / 1024} MiB; shorten its cells, or spread them over several rows`,
    )
  }
}

function tooLarge(mostBytes: number): ProviderFailure {
  const most = `${Math.floor(mostBytes / mebibyte)} MiB`
  return new ProviderFailure(
    `the rows are too large together: as JSON, where each repeats the headers, more than ${most}; shorten the headers or the cells`,
  )
}

function contentHash(
  columns: readonly Column[],
  listJson: Uint8Array,
  rowNumbers: Uint32Array,
  stale: readonly StaleColumn[],
): string {
  const keys = JSON.stringify(columns.map((column) => column.key))
  const numbers = hash('sha256', new Uint8Array(rowNumbers.buffer), 'base64url')
  // What is calculated anew and comes out the same is worth another look.
  const marks = stale.map((column) => `${column.key}\0${column.rowNumbers.join()}`).join('\0')
  return hash('sha256', keys + numbers + marks + hash('sha256', listJson, 'base64url'), 'base64url').slice(
    0,
    22,
  )
}
