import { type ErrorEntry, errorTable } from '../errors.ts'
import { markCells, oneLine } from './cells.ts'
import type { Failure } from './sheets-api.ts'

/** By the codes that agents see: those of `/v1/…`. */
const nextSteps: ReadonlyMap<string, string> = new Map(
  Object.entries<ErrorEntry>(errorTable).flatMap(([code, { nested, nextStep }]) =>
    nextStep === undefined ? [] : [[nested?.code ?? code, nextStep] as const],
  ),
)

export function inWords({ code, message, details, mayQuoteCells, retryAfterSeconds }: Failure): string {
  const said = details !== null && mayQuoteCells ? markCells(oneLine(details)) : details
  const wait = retryAfterSeconds === null ? null : `Wait ${retryAfterSeconds} s, then call again.`
  return [`${code}: ${message}`, said, nextSteps.get(code) ?? wait].filter(Boolean).join('\n')
}
