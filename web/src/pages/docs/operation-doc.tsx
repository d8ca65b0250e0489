import { CodeBlock } from '../../ui/copy.tsx'
import { Badge } from '../../ui/states.tsx'
import type { Operation } from './open-api.ts'
import { Prose } from './prose.tsx'

export function OperationDoc({ operation, baseUrl }: { operation: Operation; baseUrl: string }) {
  const { method, path, summary, description, parameters, requestExample, responses } = operation
  const success = responses.find(({ status }) => status.startsWith('2'))
  return (
    <details className="rounded-xl border border-line bg-raised">
      <summary className="flex flex-wrap items-center gap-x-3 gap-y-1 rounded-xl px-4 py-3 text-sm hover:bg-sunken">
        <Badge tone={method === 'GET' ? 'good' : method === 'DELETE' ? 'bad' : 'warn'}>{method}</Badge>
        <code className="font-mono text-[13px] break-all">{path}</code>
        <span className="text-soft">{summary}</span>
      </summary>
      <div className="space-y-4 border-t border-line p-4">
        {description && (
          <p className="max-w-prose text-sm whitespace-pre-line text-soft">
            <Prose text={description} />
          </p>
        )}
        {parameters.length > 0 && (
          <dl className="grid gap-x-4 gap-y-2 text-sm sm:grid-cols-[10rem_1fr]">
            {parameters.map((parameter) => (
              <div key={`${parameter.in} ${parameter.name}`} className="contents">
                <dt className="font-mono text-[13px]">{parameter.name}</dt>
                <dd className="text-soft">
                  <Prose text={parameter.description ?? ''} />
                  {parameter.schema?.enum && (
                    <Prose
                      text={` One of ${parameter.schema.enum.map((value) => `\`${value}\``).join(', ')}.`}
                    />
                  )}
                </dd>
              </div>
            ))}
          </dl>
        )}
        <CodeBlock
          label={`${summary}: request`}
          code={curlFor(method, `${baseUrl}${path}`, requestExample)}
        />
        {success?.example !== undefined && (
          <>
            <p className="text-[13px] text-soft">
              Response {success.status}: <Prose text={success.description} />
            </p>
            <CodeBlock label={`${summary}: response`} code={asText(success.example)} />
          </>
        )}
      </div>
    </details>
  )
}

function curlFor(method: string, url: string, body: unknown): string {
  const lines = [
    `curl${method === 'GET' ? '' : ` -X ${method}`} '${url}'`,
    `-H 'Authorization: Bearer YOUR_API_KEY'`,
  ]
  if (body !== undefined) lines.push(`-d '${asText(body).replaceAll("'", `'\\''`)}'`)
  return lines.join(' \\\n  ')
}

function asText(example: unknown): string {
  return typeof example === 'string' ? example : JSON.stringify(example, null, 2)
}
