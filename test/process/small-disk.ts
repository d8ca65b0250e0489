import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { open, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A disk of its own that can be filled to the last byte. */
export interface SmallDisk {
  folder: string
  fill(): Promise<void>
  empty(): Promise<void>
}

const pieceBytes = 4_096

/** Why there can be none here; false where there can. */
export const skipSmallDisk = ((): string | false => {
  try {
    unmount(mount(1))
    return false
  } catch {
    return 'a disk cannot be mounted here (needs root on Linux)'
  }
})()

export function smallDisk(t: { after(work: () => Promise<void>): void }, megabytes: number): SmallDisk {
  const folder = mount(megabytes)
  t.after(async () => unmount(folder))
  const filler = join(folder, 'filler')
  return {
    folder,
    async fill() {
      await using file = await open(filler, 'a')
      for (;;) {
        try {
          await file.write(Buffer.alloc(pieceBytes, 1))
        } catch (error) {
          if ((error as NodeJS.ErrnoException).code === 'ENOSPC') return
          throw error
        }
      }
    },
    empty: () => rm(filler, { force: true }),
  }
}

function mount(megabytes: number): string {
  const folder = mkdtempSync(join(tmpdir(), 'rowport-disk-'))
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m`, 'tmpfs', folder], { stdio: 'ignore' })
    return folder
  } catch (error) {
    rmSync(folder, { recursive: true })
    throw error
  }
}

/** Lazily: what a process that was killed a moment ago still has open must not keep it. */
function unmount(folder: string): void {
  execFileSync('umount', ['-l', folder], { stdio: 'ignore' })
  rmSync(folder, { recursive: true })
}
