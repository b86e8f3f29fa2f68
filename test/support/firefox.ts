/**
 * Debian's Firefox, driven by WebDriver BiDi over its own port: what is asked of it is little, and the
 * drivers that are kept ask for commands that its extended support release does not have.
 */
import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { WebSocket } from 'ws'
import type { Machine } from './machine.ts'

const PROGRAM = '/usr/bin/firefox-esr'

export const WITHOUT_FIREFOX = existsSync(PROGRAM)
  ? false
  : 'Firefox is not installed (Debian package firefox-esr)'

/** Nothing of its own goes out, and no page of its own comes up. */
const QUIET = {
  'app.update.enabled': false,
  'browser.aboutwelcome.enabled': false,
  'browser.shell.checkDefaultBrowser': false,
  'browser.startup.page': 0,
  'datareporting.policy.dataSubmissionEnabled': false,
  'network.captive-portal-service.enabled': false,
  'network.connectivity-service.enabled': false,
  'remote.prefs.recommended': true,
  'toolkit.telemetry.enabled': false,
}

type Preference = string | number | boolean
type Answer = Record<string, unknown>

interface Request {
  readonly method: string
  readonly url: string
  readonly destination?: string
}

interface Node {
  readonly sharedId: string
}

export async function startFirefox(
  t: { after(work: () => Promise<void>): void },
  machine: Machine,
  preferences: Readonly<Record<string, Preference>> = {},
) {
  const profile = mkdtempSync(join(tmpdir(), 'firefox-'))
  const lines = Object.entries({ ...QUIET, ...preferences }).map(
    ([name, value]) => `user_pref(${JSON.stringify(name)}, ${JSON.stringify(value)});\n`,
  )
  writeFileSync(join(profile, 'user.js'), lines.join(''))
  const { port, socket } = machine.takePort()
  const [command, ...words] = machine.enter
  const child = spawn(
    command,
    [
      ...[...words, PROGRAM, '--headless', '--no-remote', '--profile', profile],
      ...['--remote-debugging-port', String(port), 'about:blank'],
    ],
    { stdio: ['ignore', 'ignore', 'pipe'], env: { ...process.env, HOME: profile } },
  )
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()))
  t.after(async () => {
    child.kill('SIGKILL')
    await ended
    rmSync(profile, { recursive: true, force: true, maxRetries: 5 })
  })
  let said = ''
  await new Promise<void>((resolve, reject) => {
    child.stderr.on('data', (chunk: Buffer) => {
      said += chunk.toString()
      if (said.includes('WebDriver BiDi listening')) resolve()
    })
    void ended.then(() => reject(new Error(`Firefox ended: ${said}`)))
  })
  const wire = new WebSocket(`ws+unix:${socket}:/session`, {
    perMessageDeflate: false,
    headers: { host: `127.0.0.1:${port}` },
  })
  const asked = new Map<number, (answer: Answer) => void>()
  const events: { method: string; params: Answer }[] = []
  const watchers = new Set<() => void>()
  wire.on('message', (data: Buffer) => {
    const message = JSON.parse(data.toString()) as Answer & { id?: number; method?: string }
    if (message.method === undefined) return asked.get(message.id ?? 0)?.(message)
    events.push(message as unknown as (typeof events)[number])
    watchers.forEach((look) => look())
  })
  await new Promise((resolve, reject) => wire.once('open', resolve).once('error', reject))
  let count = 0
  async function send(method: string, params: object = {}): Promise<Answer> {
    const id = ++count
    const answer = await new Promise<Answer>((resolve) => {
      asked.set(id, resolve)
      wire.send(JSON.stringify({ id, method, params }))
    })
    asked.delete(id)
    if (answer['type'] === 'success') return answer['result'] as Answer
    throw new Error(`${method}: ${String(answer['error'])}: ${String(answer['message'])}`)
  }
  t.after(async () => wire.terminate())
  await send('session.new', { capabilities: {} })
  await send('session.subscribe', {
    events: [
      'browsingContext',
      'network.beforeRequestSent',
      'network.fetchError',
      'log.entryAdded',
    ],
  })

  /** Looked for again until it is there: pages come when they come. */
  async function until<Found>(
    what: string,
    look: () => Promise<Found | undefined>,
  ): Promise<Found> {
    const endMs = Date.now() + 90_000
    for (;;) {
      const found = await look().catch(() => undefined)
      if (found !== undefined) return found
      if (Date.now() > endMs) throw new Error(`never: ${what}`)
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  }

  const tabs = async () =>
    (
      (await send('browsingContext.getTree', { maxDepth: 0 }))['contexts'] as {
        context: string
        url: string
      }[]
    ).map(({ context, url }) => ({ context, url }))

  function tab(context: string) {
    const find = async (value: string) => {
      const locator = { type: 'css', value }
      const { nodes } = await send('browsingContext.locateNodes', { context, locator })
      return (nodes as Node[])[0]
    }
    const act = (actions: object[]) => send('input.performActions', { context, actions })
    const one = {
      context,
      url: async () => (await tabs()).find((each) => each.context === context)?.url ?? '',
      goto: (url: string) => send('browsingContext.navigate', { context, url, wait: 'complete' }),
      seen: (css: string) => until(css, () => find(css)),
      /** Settles once this is at an address like this. */
      at: (address: RegExp) =>
        until(String(address), async () => (address.test(await one.url()) ? true : undefined)),
      /** With scripts or without: by the pointer, as people do. */
      async click(css: string) {
        const element = await one.seen(css)
        const origin = { type: 'element', element }
        await act([
          {
            ...{ type: 'pointer', id: 'mouse' },
            actions: [
              { type: 'pointerMove', x: 0, y: 0, origin },
              { type: 'pointerDown', button: 0 },
              { type: 'pointerUp', button: 0 },
            ],
          },
        ])
      },
      async type(css: string, text: string) {
        await one.click(css)
        const keys = [...text].flatMap((value) => [
          { type: 'keyDown', value },
          { type: 'keyUp', value },
        ])
        await act([{ type: 'key', id: 'keyboard', actions: keys }])
      },
      /** Where scripts run. */
      async evaluate(expression: string): Promise<unknown> {
        const target = { context }
        const asked = { expression, target, awaitPromise: true }
        const { result } = await send('script.evaluate', asked)
        return (result as { value?: unknown } | undefined)?.value
      },
      async screenshot(width: number, height: number): Promise<Buffer> {
        await send('browsingContext.setViewport', { context, viewport: { width, height } })
        const { data } = await send('browsingContext.captureScreenshot', { context })
        return Buffer.from(String(data), 'base64')
      },
    }
    return one
  }

  const sentTo = (port: number) =>
    events.flatMap(({ method, params }) => {
      if (method !== 'network.beforeRequestSent') return []
      const { request } = params as unknown as { request: Request }
      return new URL(request.url).port === String(port) ? [request] : []
    })

  return {
    async newTab() {
      return tab(String((await send('browsingContext.create', { type: 'tab' }))['context']))
    },
    /** The tab that opens while this is done. */
    async opened(work: () => Promise<unknown>) {
      const before = new Set((await tabs()).map(({ context }) => context))
      await work()
      const found = await until('a new tab', async () =>
        (await tabs()).find(({ context }) => !before.has(context)),
      )
      return tab(found.context)
    },
    until,
    /** What it has asked for at a port, as method and kind. */
    requests: (port: number) =>
      sentTo(port).map(({ method, destination = '' }) => `${method} ${destination}`),
    addresses: (port: number) => sentTo(port).map(({ url }) => url),
    prompts: () => events.filter(({ method }) => method === 'browsingContext.userPromptOpened'),
  }
}

export type Firefox = Awaited<ReturnType<typeof startFirefox>>
