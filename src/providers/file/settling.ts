import type { BigIntStats } from 'node:fs'
import { lstat } from 'node:fs/promises'
import { ProviderFailure } from '../../sheets/provider-failure.ts'
import type { Timers } from '../../timers.ts'
import { kindOf } from './file-location.ts'
import { type FileSigns, readSigns, type WholeFile } from './file-signs.ts'
import { type PutIdentity, stampOf } from './file-version.ts'
import { refuseLink } from './open-file.ts'
import { isOpenForWriting } from './open-for-writing.ts'

/**
 * Other programs write files in place, piece by piece, and whoever looks meanwhile finds a half. Nothing says for sure
 * that they are done, so a version that is not our own is watched until it has been left alone for a while.
 * docs/operating.md tells what this promises, and what it cannot.
 */
export interface Settling {
  /** We put this in place ourselves, whole: nobody need wait for it. */
  noteOwn(path: string, put: PutFile): void
  /** It was read, and taken for whole. */
  noteRead(path: string, whole: WholeFile): void
  /** Waits until the file can be taken for whole, and returns the stamp of that; throws when it takes too long. */
  untilReadable(path: string, timers: Timers): Promise<string>
  /** Waits for a file that is to be replaced, which asks for more. `isFirst`: nobody has waited for it yet. */
  untilWritable(path: string, timers: Timers, isFirst?: boolean): Promise<string>
}

export interface PutFile {
  identity: PutIdentity
  whole: WholeFile
}

/** A pause that is longer than those between two pieces of a program that simply writes. */
const calmMs = 250
/** How long a file that somebody else wrote must have been left alone before it is written to. */
const quietMs = 1_000
/** How long a file must have been left alone that looks like a half. */
const suspectQuietMs = 1_500
/** How long while another program has it open for writing. Some keep a file open without ever writing to it again. */
const openQuietMs = 10_000
/** One that has just opened a file may be about to write. */
const openIdleMs = 3_000

const readPatienceMs = 3_000
/** How long those wait who stand in the lane, and have 25 seconds; also one who has waited there and finds it changed again. */
const turnPatienceMs = 12_000
const writePatienceMs = 9_000
/** Nobody is kept for ever from reading a file that somebody never stops writing to. */
const unsurePatienceMs = 10_000
const suspectPatienceMs = 30_000

const lookEveryMs = 40
const lookForWritersEveryMs = 250
const forgetUnsureAfterMs = 60_000
const maxWatched = 10_000

interface Watched {
  own: PutIdentity | null
  whole: WholeFile | null
  /** The newest look. */
  seen: SeenFile | null
  /** Stamps that were found good, so that a file which rests is not looked into again. */
  readableStamp: string | null
  writableStamp: string | null
  /** Since when nobody could take it for whole, and whether it looked like a half at any time since. */
  unsureSinceMs: number | null
  wasSuspect: boolean
  /** Someone appends to it all the time: what has only grown is shown as it is. */
  isGrowing: boolean
}

interface SeenFile {
  file: BigIntStats
  stamp: string
  /** By our own clock, because a file server's may be another. */
  firstMs: number
  lastMs: number
  /** When it was still another: it cannot have been quiet for longer. */
  otherMs: number
  signs: FileSigns
  writer: { isThere: boolean; sinceMs: number; lookedMs: number } | null
}

export function createSettling(): Settling {
  const files = new Map<string, Watched>()

  return {
    noteOwn(path, { identity, whole }) {
      Object.assign(watchOf(path), { own: identity, whole, isGrowing: false })
    },
    noteRead(path, whole) {
      watchOf(path).whole = whole
    },
    untilReadable: (path, timers) =>
      until(path, timers, {
        patienceMs: readPatienceMs,
        isGood: isReadable,
        isGoodEnough: isNoWorseThanBefore,
      }),
    untilWritable(path, timers, isFirst = false) {
      const patienceMs = isFirst ? turnPatienceMs : writePatienceMs
      return until(path, timers, { patienceMs, isGood: isWritable, isGoodEnough: () => false })
    },
  }

  function watchOf(path: string): Watched {
    const known = files.get(path)
    if (known) return known
    if (files.size >= maxWatched) files.delete(files.keys().next().value ?? '')
    const file: Watched = {
      own: null,
      whole: null,
      seen: null,
      readableStamp: null,
      writableStamp: null,
      unsureSinceMs: null,
      wasSuspect: false,
      isGrowing: false,
    }
    files.set(path, file)
    return file
  }

  async function until(
    path: string,
    timers: Timers,
    { patienceMs, isGood, isGoodEnough }: Demand,
  ): Promise<string> {
    const begunMs = performance.now()
    const watch = watchOf(path)
    for (;;) {
      const seen = await lookAt(path, watch)
      if (await isGood(path, watch, seen)) {
        watch.unsureSinceMs = null
        watch.wasSuspect = false
        return seen.stamp
      }
      watch.unsureSinceMs ??= seen.lastMs
      if (performance.now() - begunMs > patienceMs) {
        if (isGoodEnough(watch, seen)) return seen.stamp
        throw beingWritten()
      }
      await new Promise<void>((resolve) => timers.after(lookEveryMs, resolve))
    }
  }
}

interface Demand {
  patienceMs: number
  isGood(path: string, watch: Watched, seen: SeenFile): Promise<boolean>
  isGoodEnough(watch: Watched, seen: SeenFile): boolean
}

async function lookAt(path: string, watch: Watched): Promise<SeenFile> {
  const file = await lstat(path, { bigint: true })
  refuseLink(file)
  const stamp = stampOf(file)
  const nowMs = performance.now()
  const former = watch.seen
  if (former && nowMs - former.lastMs > forgetUnsureAfterMs) watch.unsureSinceMs = null
  if (former?.stamp === stamp) {
    former.lastMs = nowMs
    return former
  }
  const signs = isWhole(watch, file)
    ? noSigns
    : await readSigns(path, Number(file.size), kindOf(path), watch.whole)
  if (signs.isSuspect) watch.wasSuspect = true
  if (signs.isSuspect || !signs.isAppended) watch.isGrowing = false
  const otherMs = former?.lastMs ?? Number.NEGATIVE_INFINITY
  const seen: SeenFile = { file, stamp, firstMs: nowMs, lastMs: nowMs, otherMs, signs, writer: null }
  watch.seen = seen
  return seen
}

const noSigns: FileSigns = { isSuspect: false, isAppended: false }

/** Whoever looks at it, and whenever. What is no file is refused by whoever reads it; a pipe would keep us waiting. */
function isWhole(watch: Watched, file: BigIntStats): boolean {
  return isOwn(watch, file) || wasRenamed(file) || !file.isFile()
}

function isOwn({ own }: Watched, { dev, ino, size, mtimeNs }: BigIntStats): boolean {
  return own?.ino === ino && own.dev === dev && own.size === size && own.mtimeNs === mtimeNs
}

async function isReadable(path: string, watch: Watched, seen: SeenFile): Promise<boolean> {
  const isGood = watch.readableStamp === seen.stamp || (await isFoundReadable(path, watch, seen))
  if (isGood) watch.readableStamp = seen.stamp
  return isGood
}

async function isFoundReadable(path: string, watch: Watched, seen: SeenFile): Promise<boolean> {
  if (isWhole(watch, seen.file)) return true
  const quietForMs = quietFor(seen)
  if (quietForMs >= openQuietMs) return true
  if (watch.wasSuspect) return quietForMs >= suspectQuietMs && !(await hasWriter(path, seen))
  if (quietForMs >= quietMs || (watch.isGrowing && seen.signs.isAppended)) return true
  return quietForMs >= calmMs && !(await hasWriter(path, seen))
}

async function isWritable(path: string, watch: Watched, seen: SeenFile): Promise<boolean> {
  const isGood = watch.writableStamp === seen.stamp || (await isFoundWritable(path, watch, seen))
  if (isGood) watch.writableStamp = seen.stamp
  return isGood
}

async function isFoundWritable(path: string, watch: Watched, seen: SeenFile): Promise<boolean> {
  if (isOwn(watch, seen.file) || !seen.file.isFile()) return true
  if (wasRenamed(seen.file)) {
    // Servers that take turns need not look for others each time; a program that opened it since then may be about to write.
    if (Date.now() - Number(seen.file.ctimeMs) < quietMs) return true
  } else if (quietFor(seen) < (watch.wasSuspect ? suspectQuietMs : quietMs)) return false
  if (!(await hasWriter(path, seen))) return true
  const hadWriterForMs = performance.now() - (seen.writer?.sinceMs ?? 0)
  return quietFor(seen) >= openQuietMs && hadWriterForMs >= openIdleMs
}

/** What is taken after a long wait: a file that only grows holds all that was shown before, and a half is shown in the end. */
function isNoWorseThanBefore(watch: Watched, { signs }: SeenFile): boolean {
  const unsureForMs = performance.now() - (watch.unsureSinceMs ?? 0)
  if (!watch.wasSuspect && signs.isAppended) {
    watch.isGrowing = true
    return true
  }
  // Where rows are known, they are shown meanwhile.
  return unsureForMs >= (watch.whole ? suspectPatienceMs : unsurePatienceMs)
}

function quietFor({ file, firstMs, lastMs, otherMs }: SeenFile): number {
  const byItsOwnTime = Date.now() - Number(file.mtimeMs)
  return Math.max(Math.min(byItsOwnTime, lastMs - otherMs), lastMs - firstMs)
}

/**
 * Writing sets both times at once: where they differ, the last thing that was done to the file was to rename it; one that
 * is renamed within the same tick of the system's clock is taken for one that was written in place. So
 * do other servers that work on the same folder, and so did this one before it was started anew. An empty one may have
 * been given its rights by a program that is about to fill it.
 */
function wasRenamed({ size, mtimeNs, ctimeNs }: BigIntStats): boolean {
  return ctimeNs > mtimeNs && size > 0n
}

async function hasWriter(path: string, seen: SeenFile): Promise<boolean> {
  const { writer } = seen
  if (writer && seen.lastMs - writer.lookedMs < lookForWritersEveryMs) return writer.isThere
  const isThere = await isOpenForWriting(path, seen.file)
  const sinceMs = isThere && writer?.isThere ? writer.sinceMs : seen.lastMs
  seen.writer = { isThere, sinceMs, lookedMs: seen.lastMs }
  return isThere
}

function beingWritten(): ProviderFailure {
  return new ProviderFailure('another program is writing the file right now', {
    details: 'Nothing was changed. Try again when the other program has finished.',
    isPassing: true,
    isHalfWritten: true,
    retryAfterSeconds: 2,
  })
}
