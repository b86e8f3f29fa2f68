/** An application that a client library signs people in to, on the address that its tenant has. */
import { createServer, type RequestListener } from 'node:http'
import { freePort } from '../../../support/ports.ts'
import { Browser, PASSWORD, startWorld } from '../realm-world.ts'

type Scope = Parameters<typeof startWorld>[0]

/** `localhost` and a port: where the browser of a test really arrives, unlike at other names. */
export async function startClientWorld(t: Scope) {
  const edgePort = await freePort()
  const world = await startWorld(t, { edgePort })
  const tenant = await world.tenant('acme', { hostnames: ['localhost'] })
  const base = `http://localhost:${edgePort}`

  async function serve(listener: RequestListener) {
    const server = createServer(listener)
    await new Promise<void>((resolve) => server.listen(edgePort, 'localhost', resolve))
    t.after(async () => {
      server.closeAllConnections()
      server.close()
    })
  }

  return { world, tenant, base, serve }
}

/** From the application to its page behind the sign-in, with one browser for both hosts. */
export async function signInAt(url: string) {
  const browser = new Browser('http://')
  const page = await browser.visit(url)
  const inside = await browser.submit(page.url, { username: 'ada', password: PASSWORD })
  return { browser, page, inside }
}
