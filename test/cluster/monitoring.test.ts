import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { createMetrics } from '../../src/reporting/metrics.ts'

const docs = join(import.meta.dirname, '../../docs')

test('the dashboard and the alert rules ask for metrics that there are', async () => {
  const metrics = createMetrics()
  const exposed = String(await metrics.expose())
  const known = new Set([...exposed.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name))
  const grafana = await readFile(join(docs, 'grafana-dashboard.json'), 'utf8')
  const rules = await readFile(join(docs, 'alert-rules.yaml'), 'utf8')
  const expressions = [
    ...(JSON.parse(grafana) as { panels: { targets: { expr: string }[] }[] }).panels.flatMap(({ targets }) =>
      targets.map(({ expr }) => expr),
    ),
    ...[...rules.matchAll(/^ +expr: (.+)$/gm)].map(([, expr]) => expr ?? ''),
  ]
  assert.ok(expressions.length > 15)
  const asked = expressions.flatMap((expr) => [...expr.matchAll(/\browport_\w+/g)].map(([name]) => name))
  const missing = asked.filter((name) => !known.has(name) && !known.has(name.replace(/_bucket$/, '')))
  assert.deepEqual([...new Set(missing)], [])
})
