import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import type { TestContext } from 'node:test'

interface Asked {
  path: string
  body: Record<string, string>
}
export type Answering = (response: ServerResponse, asked: Asked) => void

export const says =
  (answer: unknown, status = 200) =>
  (response: ServerResponse) => {
    response.writeHead(status).end(typeof answer === 'string' ? answer : JSON.stringify(answer))
  }

/** Somebody who checks captchas, as each test wants them; `asked` is what they were asked. */
export async function startCaptchaProvider(t: TestContext) {
  const asked: Asked[] = []
  const provider: { answer: Answering; url: string; asked: Asked[] } = {
    answer: says({ success: true }),
    url: '',
    asked,
  }
  const server = createServer(async (request, response) => {
    const body = Object.fromEntries(new URLSearchParams(await text(request)))
    asked.push({ path: request.url ?? '', body })
    provider.answer(response, { path: request.url ?? '', body })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  provider.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return provider
}
