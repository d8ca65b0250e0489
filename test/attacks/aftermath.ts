import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { keyed, rowsOf } from './attack.ts'
import { type Attacker, largeCsv, type Neighbourhood, nothing, smallCsv } from './neighbourhood.ts'

/** What the server has taken of the machine. */
export interface Holding {
  descriptors: number
  /** Those of them that are connections. */
  sockets: number
  residentMb: number
  /** Rows of sheets, and bodies made of them, which are kept on purpose. */
  heldMb: number
}

/** How much more than before may be left of an attack. */
export interface Allowance {
  descriptors: number
  residentMb: number
}

/** What was dropped is collected when no more has been for ten seconds; files that were replaced are watched for as long. */
const settlingMs = 20_000
const lookEveryMs = 500
const patienceMs = 10_000

export async function holdingOf({ server }: Neighbourhood): Promise<Holding> {
  const pid = server.child.pid ?? 0
  const open = readdirSync(`/proc/${pid}/fd`).map((name) => targetOf(`/proc/${pid}/fd/${name}`))
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  const metrics = await (await fetch(`${server.url}/metrics`, { headers: { Connection: 'close' } })).text()
  const held = [...metrics.matchAll(/^rowport_snapshot_bytes\{[^}]*\} (\S+)$/gm)]
  return {
    descriptors: open.length,
    sockets: open.filter((target) => target.startsWith('socket:')).length,
    residentMb: Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1] ?? 0) / 1_024,
    heldMb: held.reduce((sum, [, bytes]) => sum + Number(bytes), 0) / 2 ** 20,
  }
}

export function holdingInWords({ descriptors, sockets, residentMb, heldMb }: Holding): string {
  return (
    `${descriptors} descriptors, ${sockets} of them sockets; ${residentMb.toFixed(0)} MB resident, ` +
    `${heldMb.toFixed(0)} of them rows that are held`
  )
}

/** Waits for what goes by itself a moment after an attack. Answers with what there is then, and with what is left that must not be. */
export async function settledHolding(
  street: Neighbourhood,
  before: Holding,
  allowance: Allowance,
): Promise<{ holding: Holding; problem: string | null }> {
  const endMs = performance.now() + settlingMs
  for (;;) {
    const holding = await holdingOf(street)
    const problem = leftOver(before, holding, allowance)
    if (problem === null || performance.now() > endMs) return { holding, problem }
    await sleep(lookEveryMs)
  }
}

function leftOver(before: Holding, after: Holding, allowance: Allowance): string | null {
  const most = before.descriptors + allowance.descriptors
  if (after.descriptors > most) return `descriptors stay open: ${inBoth(before, after)}`
  const grownMb = after.residentMb - after.heldMb - (before.residentMb - before.heldMb)
  return grownMb > allowance.residentMb ? `memory stays taken: ${inBoth(before, after)}` : null
}

function inBoth(before: Holding, after: Holding): string {
  return `before ${holdingInWords(before)}; after ${holdingInWords(after)}`
}

/** Gone between being listed and being looked at. */
function targetOf(path: string): string {
  try {
    return readlinkSync(path)
  } catch {
    return ''
  }
}

/** What an account is served again by, when its attack is over. */
export async function giveSheets({ connectFile }: Neighbourhood, { account }: Attacker): Promise<void> {
  await connectFile(account, 'own-small', smallCsv())
  await connectFile(account, 'own-large', largeCsv(2))
}

/**
 * Whether the attacker has its shares of everything again: what it asks for at once takes a place of each kind. The operator lifts its
 * limit of requests a minute for that; it holds again afterwards.
 */
export async function servedAgain(street: Neighbourhood, attacker: Attacker): Promise<string | null> {
  const words = ['account', 'plan', attacker.account, 'pro']
  await street.operate([...words, '--per-minute', '1000000'])
  const endMs = performance.now() + settlingMs
  for (;;) {
    const problem = await refusedAtOnce(attacker)
    attacker.leave()
    if (problem === null || performance.now() > endMs) {
      await street.operate(words)
      return problem && `${attacker.account} is not served again: ${problem}`
    }
    await sleep(lookEveryMs)
  }
}

async function refusedAtOnce(attacker: Attacker): Promise<string | null> {
  const anew = { 'Cache-Control': 'no-cache' }
  const small = rowsOf(attacker, 'own-small')
  const large = rowsOf(attacker, 'own-large')
  const asked: Record<string, ReturnType<typeof keyed>> = {
    'a first read': keyed(attacker, `${small}?limit=1`, anew),
    'a first read of a large sheet': keyed(attacker, `${large}?limit=1`, anew),
    // One that is done in a moment would need no place.
    'a query': keyed(attacker, `${large}?sort=column%200,-column%202,column%204&limit=1`),
    'a long list, compressed': keyed(attacker, large, { 'Accept-Encoding': 'gzip' }),
    'a wait for changes': keyed(attacker, `${small}/changes?wait=1`),
    'a write that is not done': attacker.ask({
      path: `${small}?dry_run=true`,
      method: 'POST',
      headers: { Authorization: `Bearer ${attacker.apiKey}` },
      body: JSON.stringify({ name: 'new' }),
    }),
    'the dashboard': attacker.call('GET', '/sheets'),
    'an export': attacker.call('GET', '/export'),
  }
  // What waits for a place that nobody leaves would wait for good.
  const patience = setTimeout(() => attacker.leave(), patienceMs)
  const answers = await Promise.all(Object.values(asked))
  clearTimeout(patience)
  for (const [nth, what] of Object.keys(asked).entries()) {
    const { status, body, coding } = answers[nth] ?? nothing
    // How often the dashboard may be asked in a minute is for the account to have used up.
    if (status === 429 && body.includes('"too_often"')) continue
    if (status < 200 || status > 299) return `${what}: ${status || 'no answer'} ${body.slice(0, 300)}`
    if (what.endsWith('compressed') && coding !== 'gzip') return `${what}: came as it is`
  }
  return null
}
