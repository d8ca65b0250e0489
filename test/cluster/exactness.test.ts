import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { done } from '../harness.ts'
import { createLoadClient } from '../load-clients.ts'
import { patienceMs } from '../soak.ts'
import { skipCluster, startCluster } from './cluster.ts'

/**
 * 0 requests that began after a change returned are answered by the old rule, on any instance (docs/reliability.md#r5).
 */

interface Rule {
  /** Of the answer that the new rule gives. */
  status: number
  returnedMs: number
}

interface Asked {
  status: number | null
  begunMs: number
  endedMs: number
}

/** A key, a sheet and an account of its own: nothing but its own changes can move its answers. */
interface Subject {
  slug: string
  key: string
  isWrite: boolean
  changes: { begunMs: number; rule: Rule }[]
  asked: Asked[]
}

test('R5: revoke, regenerate, pause and a plan change on one instance hold on the other at once', {
  skip: skipCluster,
  timeout: patienceMs,
}, async (t) => {
  let isOver = false
  // Before the cluster's own, so that nobody asks an instance that is closed.
  t.after(() => {
    isOver = true
  })
  const { instances, connectFile, createKey } = await startCluster(t)
  const [first, second] = instances
  assert.ok(first && second)
  const wanted = { changes: 200, requests: 50_000, subjects: 10 }
  const subjects: Subject[] = []
  for (let n = 0; n < wanted.subjects; n++) {
    const slug = `subject-${n}`
    done(await first.workshop.accounts.create(slug, 'enterprise'))
    await connectFile('stock', 'name\nfirst\n', slug)
    const begunMs = performance.now()
    const rule = { status: n % 2 === 0 ? 200 : 400, returnedMs: begunMs }
    subjects.push({
      slug,
      key: await createKey(slug),
      isWrite: n % 2 === 1,
      changes: [{ begunMs, rule }],
      asked: [],
    })
  }

  const asked = () => subjects.reduce((sum, subject) => sum + subject.asked.length, 0)
  const loading = subjects.flatMap((subject) =>
    [first, second].map(async ({ port }) => {
      const client = createLoadClient()
      while (!isOver) {
        const path = `/api/sheets/${subject.slug}/stock`
        // Admitted, and then refused for its empty body: nothing is written.
        const body = subject.isWrite ? { body: '[]' } : {}
        const { status, begunMs, endedMs } = await client.ask({ port, path, apiKey: subject.key, ...body })
        subject.asked.push({ status, begunMs, endedMs })
      }
      client.close()
    }),
  )
  let made = 0
  await Promise.all(
    subjects.map(async (subject, at) => {
      for (let n = 0; n < wanted.changes / wanted.subjects; n++) {
        while (asked() < (wanted.requests * n * wanted.subjects) / wanted.changes && !isOver) await sleep(5)
        await change(subject, n, instances[(n + at) % 2] ?? first)
        made++
      }
    }),
  )
  while (asked() < wanted.requests && !isOver) await sleep(5)
  isOver = true
  await Promise.all(loading)

  const violations = subjects.flatMap(violationsOf)
  process.stdout.write(
    `R5: ${made} changes, ${asked()} requests on 2 instances, ${violations.length} answered by the old rule\n`,
  )
  assert.deepEqual(violations.slice(0, 5), [])
  assert.ok(made >= wanted.changes && asked() >= wanted.requests)
})

async function change(subject: Subject, n: number, { workshop }: { workshop: WorkshopOf }): Promise<void> {
  const { accounts, sheets, keys } = workshop
  const { slug, isWrite } = subject
  const fine = isWrite ? 400 : 200
  const kind = n % 6
  const begunMs = performance.now()
  let status = fine
  if (kind === 0 || kind === 1) {
    done(await sheets.setPaused(slug, 'stock', kind === 0))
    status = kind === 0 ? 503 : fine
  } else if (kind === 2 || kind === 3) {
    const own = { requestsPerMinute: null, requestsPerMonth: null }
    const free = { requestsPerMinute: 999_999, requestsPerMonth: 999_999_999 }
    done(await accounts.setPlan(slug, kind === 2 ? 'free' : 'enterprise', kind === 2 ? free : own))
    // Free accounts read, and do not write.
    status = kind === 2 && isWrite ? 403 : fine
  } else if (kind === 4) {
    const [record] = (await keys.list(slug)) as { id: string; revokedAtMs: number | null }[]
    const active = ((await keys.list(slug)) as { id: string; revokedAtMs: number | null }[]).find(
      ({ revokedAtMs }) => revokedAtMs === null,
    )
    done(await keys.revoke(active?.id ?? record?.id ?? ''))
    status = 403
  } else {
    // A new key: from its first request on, it is good.
    const wish = {
      accountSlug: slug,
      sheetSlug: null,
      name: 'next',
      mode: 'live',
      scope: 'read-write',
    } as const
    subject.key = done(await keys.create(wish)).value
  }
  subject.changes.push({ begunMs, rule: { status, returnedMs: performance.now() } })
}

type WorkshopOf = Awaited<ReturnType<typeof startCluster>>['workshop']

/** While a change is under way both rules are right, and so is the new one before the test has noted it. */
function violationsOf({ changes, asked, slug }: Subject): string[] {
  return asked.flatMap(({ status, begunMs, endedMs }) => {
    const possible = changes.filter(({ begunMs: changedMs }, at) => {
      const next = changes[at + 1]
      return changedMs <= endedMs && (next === undefined || begunMs <= next.rule.returnedMs)
    })
    if (possible.some(({ rule }) => rule.status === status)) return []
    return `${slug}: ${status}, not ${possible.map(({ rule }) => rule.status).join(' or ')}`
  })
}
