/** A request as the console has sent it. */
export interface SentRequest {
  method: string
  /** With the query, as it was typed. */
  path: string
  body: string | null
}

/** The request as code in other hands. The key comes from the environment: code is copied, sent and stored. */
export function codeFor(
  { method, path, body }: SentRequest,
  baseUrl: string,
): { name: string; code: string }[] {
  // As the browser has written it: nothing in it can end a quoted text.
  const url = new URL(baseUrl + path).href
  return [
    { name: 'curl', code: curlCode(method, url, body) },
    { name: 'fetch', code: fetchCode(method, url, body) },
    { name: 'Python', code: pythonCode(method, url, body) },
  ]
}

function curlCode(method: string, url: string, body: string | null): string {
  const lines = [
    `curl -g${method === 'GET' || (method === 'POST' && body !== null) ? '' : ` -X ${method}`} '${url}'`,
    `-H "Authorization: Bearer $ROWPORT_KEY"`,
  ]
  if (body !== null)
    lines.push(`-H 'Content-Type: application/json'`, `-d '${body.replaceAll("'", `'\\''`)}'`)
  return lines.join(' \\\n  ')
}

function fetchCode(method: string, url: string, body: string | null): string {
  const headers = [`Authorization: \`Bearer \${process.env.ROWPORT_KEY}\``]
  // Sent again after a lost answer, a write with the same key is not done again.
  if (method !== 'GET') headers.push(`'Idempotency-Key': crypto.randomUUID()`)
  if (body !== null) headers.push(`'Content-Type': 'application/json'`)
  const lines = [
    ...(method === 'GET' ? [] : [`  method: '${method}',`]),
    '  headers: {',
    ...headers.map((header) => `    ${header},`),
    '  },',
    ...(body === null ? [] : [`  body: ${scriptBody(body)},`]),
  ]
  return `const response = await fetch('${url}', {\n${lines.join('\n')}\n})\nconst body = await response.json()\nif (!response.ok) throw new Error(\`\${body.error} \${body.details ?? ''}\`)\nconsole.log(body)`
}

/** As an object where it is one, so that it can be gone on with. */
function scriptBody(body: string): string {
  try {
    return `JSON.stringify(${indented(JSON.stringify(JSON.parse(body), null, 2), '  ')})`
  } catch {
    return JSON.stringify(body)
  }
}

function pythonCode(method: string, url: string, body: string | null): string {
  const headers = [`"Authorization": f"Bearer {os.environ['ROWPORT_KEY']}"`]
  if (method !== 'GET') headers.push(`"Idempotency-Key": str(uuid.uuid4())`)
  if (body !== null) headers.push(`"Content-Type": "application/json"`)
  const lines = [
    `    "${method}",`,
    `    "${url}",`,
    '    headers={',
    ...headers.map((header) => `        ${header},`),
    '    },',
    // A text of JSON is one of Python, too.
    ...(body === null ? [] : [`    data=${JSON.stringify(body)}.encode(),`]),
  ]
  return `import os${method === 'GET' ? '' : ', uuid'}, requests\n\nresponse = requests.request(\n${lines.join('\n')}\n)\nresponse.raise_for_status()\nprint(response.json())`
}

function indented(text: string, by: string): string {
  return text.replaceAll('\n', `\n${by}`)
}
