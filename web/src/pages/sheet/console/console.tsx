import { useMutation } from '@tanstack/react-query'
import { useSearch } from '@tanstack/react-router'
import { type RefObject, useEffect, useRef, useState } from 'react'
import { useSession } from '../../../session.ts'
import { Button } from '../../../ui/button.tsx'
import { CopyButton, CopyFrame, useCopying } from '../../../ui/copy.tsx'
import { FormError, SelectField, TextField } from '../../../ui/field.tsx'
import { shownNumber } from '../../../ui/number.ts'
import { ScrollBox } from '../../../ui/scroll-box.tsx'
import { Badge, Card } from '../../../ui/states.tsx'
import { askAsClient, type ClientRequest } from '../as-client.ts'
import { useSheet } from '../sheet-query.ts'
import { Snippets } from '../snippet-tabs.tsx'
import { ConsoleHistory, keepInHistory } from './console-history.tsx'
import {
  type Asked,
  exampleBody,
  isOfMany,
  isTrial,
  methods,
  pathToRow,
  queryExamples,
  whatHappens,
} from './console-request.ts'
import { codeFor, type SentRequest } from './request-code.ts'

interface Sending extends ClientRequest {
  sheetId: string
  /** The form as it was. */
  asked: Asked
}
interface Answer {
  /** What was sent for it. */
  request: SentRequest
  status: number
  statusText: string
  durationMs: number
  headers: [string, string][]
  body: string
}

const shownBytes = 100_000

async function sendRequest({ sheetId, asked, ...request }: Sending): Promise<Answer> {
  const { response, text, durationMs } = await askAsClient(request)
  keepInHistory(sheetId, { ...asked, status: response.status })
  return {
    request: { method: request.method, path: request.path, body: request.body },
    status: response.status,
    statusText: response.statusText,
    durationMs,
    headers: [...response.headers].filter(([name]) => interesting.test(name)),
    body: pretty(text),
  }
}

/** Sends real requests to the public API, from this browser, with a key that lives as long as the page. */
export function Console() {
  const sheet = useSheet()
  const { account, server } = useSession()
  const isLeft = useRef(false)
  useEffect(() => {
    isLeft.current = false
    return () => {
      isLeft.current = true
    }
  }, [])
  const linked = useSearch({ from: '/owners/sheets/$slug/console' })
  const [asked, setAsked] = useState<Asked>({
    method: linked.method && methods.includes(linked.method) ? linked.method : 'GET',
    row: linked.row ?? '',
    rowBy: linked.row === undefined ? sheet.settings.keyColumn : null,
    query: linked.query ?? null,
    body: null,
  })
  const isRead = asked.method === 'GET'
  const hasBody = ['POST', 'PUT', 'PATCH'].includes(asked.method)
  const row = asked.method === 'POST' ? '' : asked.row
  const query = asked.query ?? (isRead && !row ? 'limit=10' : '')
  const body = asked.body ?? exampleBody(sheet.columns)
  const search = query.replace(/^\?/, '')
  const needsRow = ['PUT', 'PATCH', 'DELETE'].includes(asked.method) && !isOfMany(asked.method, search)
  const isDryRun = !isRead && isTrial(search)
  const path = `${sheet.paths.formA}${pathToRow(row, asked.rowBy)}${search ? `?${search}` : ''}`

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
              body: hasBody ? body : null,
              isLeft: () => isLeft.current,
              sheetId: sheet.id,
              asked: { ...asked, row, query, body: hasBody ? body : asked.body },
            })
          }}
        >
          {/* Where three do not fit beside each other, how a row is found and which one stay together. */}
          <div className="grid grid-cols-2 gap-x-3 *:first:col-span-2 sm:max-lg:grid-cols-[8.5rem_1fr_1fr] sm:max-lg:*:first:col-span-1 xl:grid-cols-[8.5rem_1fr_1fr] xl:*:first:col-span-1">
            <SelectField
              label="Method"
              value={asked.method}
              onChange={({ target }) => setAsked({ ...asked, method: target.value, query: null })}
            >
              {methods.map((method) => (
                <option key={method}>{method}</option>
              ))}
            </SelectField>
            <SelectField
              label="Find by"
              value={asked.rowBy === null ? '' : `by ${asked.rowBy}`}
              disabled={asked.method === 'POST'}
              onChange={({ target }) =>
                setAsked({ ...asked, row: '', rowBy: target.value === '' ? null : target.value.slice(3) })
              }
            >
              <option value="">number</option>
              {sheet.columns.map(({ name }) => (
                <option key={name} value={`by ${name}`}>
                  {name}
                </option>
              ))}
            </SelectField>
            <TextField
              label="Row"
              inputMode={asked.rowBy === null ? 'numeric' : 'text'}
              autoComplete="off"
              placeholder={rowHint(asked, needsRow)}
              required={needsRow}
              disabled={asked.method === 'POST'}
              value={row}
              onChange={({ target }) =>
                setAsked({
                  ...asked,
                  row: asked.rowBy === null ? target.value.replace(/\D/g, '') : target.value,
                })
              }
            />
          </div>
          <TextField
            label="Query"
            placeholder={queryExamples[asked.method]}
            autoComplete="off"
            spellCheck={false}
            className="font-mono text-caption!"
            value={query}
            onChange={({ target }) => setAsked({ ...asked, query: target.value })}
          />
          {hasBody && (
            <label className="mb-3 block">
              <span className="mb-1 block text-sm font-medium">Body</span>
              <textarea
                rows={8}
                spellCheck={false}
                value={body}
                onChange={({ target }) => setAsked({ ...asked, body: target.value })}
                className="w-full rounded-md border border-line-strong bg-raised p-3 font-mono text-caption"
              />
            </label>
          )}
          {!isRead && (
            <p className="mb-3 rounded-md bg-warn-wash px-3 py-2 text-caption text-warn">
              {account.plan.writeApi
                ? isDryRun
                  ? 'A dry run: nothing will change.'
                  : 'This will change your live spreadsheet.'
                : 'Your plan is read-only, so this will return 403 write_api_not_enabled.'}
            </p>
          )}
          <p className="mb-3 font-mono text-caption break-all text-soft">
            {asked.method} {path}
          </p>
          {!isRead && (
            <p className="mb-3 font-mono text-caption text-soft">Idempotency-Key: a new one for each click</p>
          )}
          <Button type="submit" look="primary" isBusy={request.isPending}>
            {whatHappens({ ...asked, row, query: search })}
          </Button>
          <FormError>{request.error?.message}</FormError>
        </form>
        <ConsoleHistory sheetId={sheet.id} onChosen={setAsked} />
      </Card>
      <Card title="Response">
        <div aria-live="polite">
          {request.data ? (
            <AnswerView
              answer={request.data}
              baseUrl={server.baseUrl}
              isOfEarlier={
                request.variables?.method !== asked.method ||
                request.variables.path !== path ||
                (hasBody && request.variables.body !== body)
              }
            />
          ) : (
            <p className="py-10 text-center text-sm text-soft">
              Send a request to see the response. It’s a real one and counts toward your quota.
            </p>
          )}
        </div>
      </Card>
    </div>
  )
}

function rowHint({ method, rowBy }: Asked, needsRow: boolean): string {
  if (method === 'POST') return 'a new one'
  if (!needsRow) return 'all rows'
  return rowBy === null ? 'e.g. 2' : 'its value'
}

function AnswerView({
  answer,
  baseUrl,
  isOfEarlier,
}: {
  answer: Answer
  baseUrl: string
  isOfEarlier: boolean
}) {
  const copying = useCopying(answer.body)
  return (
    <>
      <p className="mb-2 text-caption break-all text-soft">
        Sent:{' '}
        <code className="font-mono">
          {answer.request.method} {answer.request.path}
        </code>
      </p>
      {isOfEarlier && (
        <p className="mb-2 text-caption text-warn">The request has changed since this was sent.</p>
      )}
      <p className="mb-3 flex items-center gap-3 text-sm">
        <Badge tone={answer.status < 300 ? 'good' : answer.status < 500 ? 'warn' : 'bad'}>
          {answer.status} {answer.statusText}
        </Badge>
        <span className="text-soft tabular-nums">{Math.max(1, Math.round(answer.durationMs))} ms</span>
      </p>
      <details className="mb-3 text-caption">
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
      <CopyFrame copying={copying} className="flex items-start gap-2 pl-0">
        <ScrollBox label="Response body" className="max-h-[28rem] min-w-0 flex-1 py-[3px] pl-4">
          <pre
            ref={copying.shown as RefObject<HTMLPreElement | null>}
            className="font-mono text-caption leading-relaxed break-words whitespace-pre-wrap"
          >
            {answer.body}
          </pre>
        </ScrollBox>
        <CopyButton copying={copying} about="response" />
      </CopyFrame>
      <details className="mt-4 text-caption">
        <summary className="rounded-sm text-soft">Code for this request</summary>
        <div className="mt-2">
          <Snippets snippets={codeFor(answer.request, baseUrl)} />
        </div>
      </details>
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
