import { createHash } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * Why node_modules has to be installed anew, or undefined when it holds what package-lock.json says.
 * An install by hand counts as well: npm records what it installed in node_modules/.package-lock.json, last of
 * all, so an install that was cut short has no record.
 */
export function whyInstall(root, { needsDev }) {
  const { lockText, recordText } = read(root)
  if (!existsSync(join(root, 'node_modules'))) return 'nothing is installed yet'
  if (recordText === undefined) return 'the last install did not finish'
  const wanted = JSON.parse(lockText).packages
  const installed = parseRecord(recordText)

  const gone = Object.keys(installed).find((location) => !existsSync(join(root, location)))
  if (gone) return `${nameOf(gone)} has been removed`
  const stamp = readStamp(root)
  if (stamp === stampOf(lockText, recordText, true)) return undefined
  if (stamp === stampOf(lockText, recordText, false) && !needsDev) return undefined

  // Packages that are installed beyond the lock file do no harm and stay.
  for (const [location, entry] of Object.entries(wanted)) {
    if (location === '') continue
    const found = installed[location]
    if (!found && mayBeAbsent(entry, needsDev)) continue
    if (!found) return `${nameOf(location)} ${entry.version} is missing`
    if (found.version !== entry.version || found.integrity !== entry.integrity) {
      return `${nameOf(location)} is ${found.version}, package-lock.json says ${entry.version}`
    }
  }
  return undefined
}

/**
 * Remembers that `npm ci` made this node_modules from this lock file. Without it, a package that npm
 * leaves out for a reason we do not see would be missed, and installed again, at every start.
 */
export function stampInstalled(root, { needsDev }) {
  const { lockText, recordText } = read(root)
  if (recordText !== undefined) writeFileSync(stampFile(root), stampOf(lockText, recordText, needsDev))
}

export function countPackages(root) {
  const { packages } = JSON.parse(read(root).lockText)
  return Object.entries(packages).filter(([location, entry]) => location !== '' && !mayBeAbsent(entry, true))
    .length
}

function read(root) {
  let lockText
  try {
    lockText = readFileSync(join(root, 'package-lock.json'), 'utf8')
  } catch (error) {
    throw new Error(`package-lock.json cannot be read (${error.code}): is this a whole checkout?`)
  }
  try {
    return { lockText, recordText: readFileSync(join(root, 'node_modules', '.package-lock.json'), 'utf8') }
  } catch {
    return { lockText, recordText: undefined }
  }
}

function parseRecord(text) {
  try {
    return JSON.parse(text).packages ?? {}
  } catch {
    return {}
  }
}

const stampFile = (root) => join(root, 'node_modules', '.rowport-set-up')

function readStamp(root) {
  try {
    return readFileSync(stampFile(root), 'utf8')
  } catch {
    return undefined
  }
}

function stampOf(lockText, recordText, withDev) {
  const parts = [withDev, process.platform, process.arch, lockText, recordText]
  return createHash('sha256').update(parts.join('\0')).digest('hex')
}

function mayBeAbsent(entry, needsDev) {
  if (entry.dev && !needsDev) return true
  // Only npm knows the machine's C library cheaply, so its choice is trusted.
  if (entry.libc) return true
  return !allows(entry.os, process.platform) || !allows(entry.cpu, process.arch)
}

/** npm's rule for the `os` and `cpu` fields: a name or a list, `!name` excludes. */
function allows(field, value) {
  if (field === undefined) return true
  const names = [field].flat()
  if (names.includes(`!${value}`)) return false
  const positive = names.filter((name) => !name.startsWith('!'))
  return positive.length === 0 || positive.includes(value) || positive.includes('any')
}

const nameOf = (location) => location.slice(location.lastIndexOf('node_modules/') + 'node_modules/'.length)
