import { hash } from 'node:crypto'
import { readFileSync, readlinkSync } from 'node:fs'
import { hostname } from 'node:os'
import { newId } from '../new-id.ts'

/**
 * Names this process among all on the same store, and says where it runs: whoever starts on the same machine after it
 * was killed need not wait until its silence tells.
 */
export function newInstanceId(): string {
  const id = `${newId('in')}.${thisMachine}.${process.pid}`
  ofThisProcess.add(id)
  return id
}

const ofThisProcess = new Set<string>()

/**
 * Only where it is certain: on this machine since its last boot, in the same space of process numbers, and no process
 * has the number any more (or this one has it now). A number that another program got meanwhile counts as alive.
 */
export function isSurelyDead(instanceId: string): boolean {
  const [, machine, pid] = instanceId.split('.')
  if (ofThisProcess.has(instanceId) || machine !== thisMachine || !/^\d+$/.test(pid ?? '')) return false
  return Number(pid) === process.pid || !hasProcess(Number(pid))
}

function hasProcess(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    // EPERM: there is one, and it is somebody else's.
    return (error as NodeJS.ErrnoException).code !== 'ESRCH'
  }
}

/** Two containers may share a host's name and both be number 1; their namespaces differ. */
const thisMachine = hash(
  'sha256',
  [
    hostname(),
    orNothing(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8')),
    orNothing(() => readlinkSync('/proc/self/ns/pid')),
  ].join('\n'),
).slice(0, 16)

/** Other systems than Linux do not tell. */
function orNothing(read: () => string): string {
  try {
    return read()
  } catch {
    return ''
  }
}
