import assert from 'node:assert/strict'
import { type ClientRequest, type IncomingMessage, request } from 'node:http'

/** One event as the HTML standard reads it, or the last thing that was said. */
export interface StreamEvent {
  id: string
  event: string
  data: string
}

/** A connection to `…/changes` that is left open, read as an `EventSource` reads it. */
export class EventStream {
  /** What was dispatched. */
  readonly events: StreamEvent[] = []
  /** Everything that came, as text. */
  text = ''
  lastEventId = ''
  retryMs: number | null = null
  comments = 0
  isEnded = false
  readonly response: IncomingMessage
  readonly #request: ClientRequest
  #unread = ''
  #waiting: (() => void)[] = []

  constructor(sent: ClientRequest, response: IncomingMessage) {
    this.#request = sent
    this.response = response
    response.setEncoding('utf8')
    response.on('data', (text: string) => this.#take(text))
    response.on('error', () => {})
    response.once('close', () => {
      this.isEnded = true
      this.#wake()
    })
  }

  static open(url: string, headers: Record<string, string> = {}): Promise<EventStream> {
    return EventStream.of(
      request(url, { headers: { Accept: 'text/event-stream', ...headers }, agent: false }),
    )
  }

  static of(sent: ClientRequest): Promise<EventStream> {
    return new Promise((resolve, reject) => {
      sent.once('error', reject)
      sent.once('response', (response) => {
        sent.on('error', () => {})
        resolve(new EventStream(sent, response))
      })
      sent.end()
    })
  }

  /** Changes that came. */
  // biome-ignore lint/suspicious/noExplicitAny: each test says what it expects.
  get changes(): any[] {
    return this.events.filter(({ event }) => event === 'message').map(({ data }) => JSON.parse(data))
  }

  async until(isThere: (stream: EventStream) => boolean, withinMs = 10_000): Promise<void> {
    const endMs = performance.now() + withinMs
    while (!isThere(this)) {
      const leftMs = endMs - performance.now()
      assert.ok(leftMs > 0, `It did not come. What came: ${this.text.slice(-2_000)}`)
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, leftMs)
        this.#waiting.push(() => {
          clearTimeout(timer)
          resolve()
        })
      })
    }
  }

  untilCount(count: number, withinMs?: number): Promise<void> {
    return this.until(({ events }) => events.length >= count, withinMs)
  }

  untilEnd(withinMs?: number): Promise<void> {
    return this.until(({ isEnded }) => isEnded, withinMs)
  }

  close(): void {
    this.#request.destroy()
  }

  #take(text: string): void {
    this.text += text
    this.#unread += text
    for (let end = this.#unread.indexOf('\n\n'); end >= 0; end = this.#unread.indexOf('\n\n')) {
      this.#dispatch(this.#unread.slice(0, end))
      this.#unread = this.#unread.slice(end + 2)
    }
    this.#wake()
  }

  #dispatch(block: string): void {
    let event = 'message'
    let data: string | null = null
    for (const line of block.split('\n')) {
      if (line.startsWith(':')) this.comments++
      const [, field = '', value = ''] = /^([a-z]+): ?(.*)$/.exec(line) ?? []
      if (field === 'id') this.lastEventId = value
      if (field === 'retry') this.retryMs = Number(value)
      if (field === 'event') event = value
      if (field === 'data') data = data === null ? value : `${data}\n${value}`
    }
    if (data !== null) this.events.push({ id: this.lastEventId, event, data })
  }

  #wake(): void {
    for (const wake of this.#waiting.splice(0)) wake()
  }
}
