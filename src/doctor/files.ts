import { access, constants, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { freeSpace } from '../free-space.ts'
import { asProviderFailure } from '../providers/file/file-failure.ts'
import { parseFileLocation } from '../providers/file/file-location.ts'
import { openFile } from '../providers/file/open-file.ts'
import type { InspectedSheet } from '../store/sql/inspection.ts'
import { type Finding, fine, wrong } from './finding.ts'
import { inUnits } from './units.ts'

/** Names each file that something is wrong with, and says how many there are. */
export async function examineFiles(sheets: readonly InspectedSheet[]): Promise<Finding[]> {
  const files = sheets.filter(({ provider }) => provider === 'file')
  if (files.length === 0) return [fine('Files', 'None is connected.')]
  const findings = await Promise.all(files.map(examineFile))
  const problems = findings.filter((finding) => finding !== null)
  const others = files.length - problems.length
  const summary = `${others} of ${files.length} connected files can be read and replaced.`
  return [...problems, ...(others > 0 ? [fine('Files', summary)] : [])]
}

async function examineFile({ name, location }: InspectedSheet): Promise<Finding | null> {
  const { path } = parseFileLocation(location)
  const folder = dirname(path)
  const its = `${name} (${path})`
  let size: number
  try {
    await using file = await openFile(path)
    size = (await file.stat()).size
  } catch (error) {
    return wrong('Files', `${its}: ${wordsFor(error, 'read')}.`, 'Put it back, or reconnect the sheet.')
  }
  try {
    if (!(await stat(path)).isFile()) return wrong('Files', `${its} is not a file.`, 'Connect a file.')
    // It is changed by writing another one beside it.
    await access(folder, constants.W_OK)
  } catch (error) {
    const advice = `Let the user that runs Rowport write to ${folder}; reading works without.`
    return wrong('Files', `${its}: ${wordsFor(error, 'write')}.`, advice)
  }
  const freeBytes = await freeSpace(folder)
  if (freeBytes !== null && freeBytes < size + roomToSpareBytes) {
    const says = `${its}: there is no room to rewrite it, ${inUnits(freeBytes)} free.`
    return wrong('Files', says, `Make room on the disk of ${folder}; reading works without.`)
  }
  return null
}

const roomToSpareBytes = 100_000

function wordsFor(error: unknown, action: 'read' | 'write'): string {
  const failure = asProviderFailure(error, action)
  return failure instanceof Error ? failure.message : String(failure)
}
