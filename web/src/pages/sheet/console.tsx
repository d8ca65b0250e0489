import { useMutation } from '@tanstack/react-query'
import { type RefObject, useEffect, useRef, useState } from 'react'
import { newAttempt, reach, send } from '../../api.ts'
import { basePath } from '../../base-path.ts'
import { useSession } from '../../session.ts'
import { Button } from '../../ui/button.tsx'
import { FormError, SelectField, TextField } from '../../ui/field.tsx'
import { shownNumber } from '../../ui/number.ts'
import { ScrollBox } from '../../ui/scroll-box.tsx'
import { Badge, Card } from '../../ui/states.tsx'
import { useSheet } from './sheet-query.ts'

interface Asked {
  method: string
  row: string
  /** null until somebody types one. */
  query: string | null
  body: string
}
/** Everything that one request needs, as it was on the screen when it was asked for. */
interface Sending {
  slug: string
  method: string
  path: string
  body: string | null
  /** Fetched with the first request, and then kept. */
  key: RefObject<HeldKey | null>
  isLeft: RefObject<boolean>
}
/** Good by this browser's clock alone: the server's may be another. */
interface HeldKey {
  value: string
  goodUntilMs: number
}
interface Answer {
  status: number
  statusText: string
  durationMs: number
  headers: [string, string][]
  body: string
}

const methods = ['GET', 'POST', 'PUT', 'DELETE']
const shownBytes = 100_000

/** Whoever has waited for longer does not expect it any more. */
const longestKeyWaitMs = 5_000
const noKeyInTime = 'Rowport is slow to answer. Nothing was sent; try again.'

async function sendRequest({ slug, method, path, body, key, isLeft }: Sending): Promise<Answer> {
  const value = await keyValue(slug, key)
  if (isLeft.current) throw new Error('The page was left before anything was sent.')
  const begunMs = performance.now()
  const { response, text } = await reach(basePath + path, {
    method,
    credentials: 'omit',
    cache: 'no-store',
    headers: {
      Authorization: `Bearer ${value}`,
      // The browser may send it again by itself when an answer is lost.
      ...(method === 'GET' ? {} : { 'Idempotency-Key': newAttempt() }),
      ...(body === null ? {} : { 'Content-Type': 'application/json' }),
    },
    ...(body === null ? {} : { body }),
  })
  // The key ended with the session that asked for it; the next request gets another one.
  if (response.status === 403) key.current = null
  return {
    status: response.status,
    statusText: response.statusText,
    durationMs: performance.now() - begunMs,
    headers: [...response.headers].filter(([name]) => interesting.test(name)),
    body: pretty(text),
  }
}

/** A key that comes too late is kept for the next request. */
async function keyValue(slug: string, held: RefObject<HeldKey | null>): Promise<string> {
  if (held.current && held.current.goodUntilMs >= Date.now()) return held.current.value
  const asked = send('POST /sheets/{slug}/console-key', { names: { slug } }).then(({ value, lifeMs }) => {
    held.current = { value, goodUntilMs: Date.now() + lifeMs }
    return value
  })
  const { promise: isLate, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(new Error(noKeyInTime)), longestKeyWaitMs)
  return Promise.race([asked, isLate]).finally(() => clearTimeout(timer))
}

/** Sends real requests to the public API, from this browser, with a key that lives as long as the page. */
export function Console() {
  const sheet = useSheet()
  const { account } = useSession()
  const key = useRef<HeldKey | null>(null)
  const isLeft = useRef(false)
  useEffect(() => {
    isLeft.current = false
    return () => {
      isLeft.current = true
    }
  }, [])
  const [asked, setAsked] = useState<Asked>({
    method: 'GET',
    row: '',
    query: null,
    body: exampleBody(sheet.columns),
  })
  const needsRow = asked.method === 'PUT' || asked.method === 'DELETE'
  const hasBody = asked.method === 'POST' || asked.method === 'PUT'
  const row = asked.method === 'POST' ? '' : asked.row
  const query = asked.query ?? (asked.method === 'GET' && !row ? 'limit=10' : '')
  const search = query.replace(/^\?/, '')
  const path = `${sheet.paths.formA}${row ? `/${row}` : ''}${search ? `?${search}` : ''}`

  const request = useMutation({ mutationFn: sendRequest })
  return (
    <div className="grid grid-cols-1 items-start gap-6 lg:grid-cols-2">
      <Card title="Request">
        <form
          onSubmit={(event) => {
            event.preventDefault()
            request.mutate({
              slug: sheet.slug,
              method: asked.method,
              path,
              body: hasBody ? asked.body : null,
              key,
              isLeft,
            })
          }}
        >
          <div className="grid grid-cols-[7rem_1fr] gap-x-3">
            <SelectField
              label="Method"
              value={asked.method}
              onChange={({ target }) => setAsked({ ...asked, method: target.value })}
            >
              {methods.map((method) => (
                <option key={method}>{method}</option>
              ))}
            </SelectField>
            <TextField
              label="Row"
              inputMode="numeric"
              placeholder={needsRow ? 'such as 2' : 'all rows'}
              required={needsRow}
              disabled={asked.method === 'POST'}
              value={row}
              onChange={({ target }) => setAsked({ ...asked, row: target.value.replace(/\D/g, '') })}
            />
          </div>
          <TextField
            label="Query"
            placeholder="price[gte]=10&sort=-price&limit=10"
            autoComplete="off"
            spellCheck={false}
            className="font-mono"
            value={query}
            onChange={({ target }) => setAsked({ ...asked, query: target.value })}
          />
          {hasBody && (
            <label className="mb-3 block">
              <span className="mb-1 block text-sm font-medium">Body</span>
              <textarea
                rows={8}
                spellCheck={false}
                value={asked.body}
                onChange={({ target }) => setAsked({ ...asked, body: target.value })}
                className="w-full rounded-md border border-line-strong bg-raised p-3 font-mono text-[13px]"
              />
            </label>
          )}
          {asked.method !== 'GET' && (
            <p className="mb-3 rounded-md bg-warn-wash px-3 py-2 text-[13px] text-warn">
              {account.plan.writeApi
                ? 'This changes the real spreadsheet.'
                : 'Your plan is for reading, so the answer will be 403 write_api_not_enabled.'}
            </p>
          )}
          <p className="mb-3 font-mono text-[13px] break-all text-soft">
            {asked.method} {path}
          </p>
          {asked.method !== 'GET' && (
            <p className="mb-3 font-mono text-[13px] text-soft">Idempotency-Key: a new one for each click</p>
          )}
          <Button type="submit" look="primary" isBusy={request.isPending}>
            Send
          </Button>
          <FormError>{request.error?.message}</FormError>
        </form>
      </Card>
      <Card title="Answer">
        <div aria-live="polite">
          {request.data ? (
            <AnswerView answer={request.data} />
          ) : (
            <p className="py-10 text-center text-sm text-soft">Send a request to see what clients get.</p>
          )}
        </div>
      </Card>
    </div>
  )
}

function AnswerView({ answer }: { answer: Answer }) {
  return (
    <>
      <p className="mb-3 flex items-center gap-3 text-sm">
        <Badge tone={answer.status < 300 ? 'good' : answer.status < 500 ? 'warn' : 'bad'}>
          {answer.status} {answer.statusText}
        </Badge>
        <span className="text-soft tabular-nums">{Math.max(1, Math.round(answer.durationMs))} ms</span>
      </p>
      <details className="mb-3 text-[13px]">
        <summary className="rounded-sm text-soft">{answer.headers.length} headers</summary>
        <dl className="mt-2 grid grid-cols-[auto_1fr] gap-x-4 gap-y-1 font-mono">
          {answer.headers.map(([name, value]) => (
            <div key={name} className="contents">
              <dt className="text-soft">{name}</dt>
              <dd className="break-all">{value}</dd>
            </div>
          ))}
        </dl>
      </details>
      <ScrollBox
        label="Body of the answer"
        className="max-h-[28rem] rounded-lg border border-line bg-sunken p-4"
      >
        <pre className="font-mono text-[13px] leading-relaxed break-words whitespace-pre-wrap">
          {answer.body}
        </pre>
      </ScrollBox>
    </>
  )
}

const interesting = /^(?:age|allow|cache|content-type|etag|idempotent|link|location|retry|x-)/i

function pretty(text: string): string {
  if (text.length > shownBytes)
    return `${text.slice(0, shownBytes)}\n… (${shownNumber(text.length)} characters in all)`
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}

function exampleBody(columns: readonly { name: string; type: string }[]): string {
  const row = Object.fromEntries(
    columns
      .slice(0, 6)
      .map(({ name, type }) => [
        name,
        type.includes('number') ? 1 : type.includes('boolean') ? true : 'text',
      ]),
  )
  return JSON.stringify(row, null, 2)
}
