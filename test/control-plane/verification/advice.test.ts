/** What a person who is stuck reads: each thing that can be wrong, what was found, what to do. */
import { createServer, type Server } from 'node:net'
import type { AddressInfo } from 'node:net'
import t, { type Test } from 'tap'
import { makeKey } from '../../support/connectors.ts'
import { listen, middleware, startScene, type Answer, type SeenCheck } from './scene.ts'

type Scenery = Awaited<ReturnType<typeof startScene>>

/** The one check, after one probe. */
async function found(scene: Scenery, name: string): Promise<SeenCheck> {
  const { check } = await scene.probe()
  const result = check(name)
  if (result === undefined) throw new Error(`no ${name}`)
  return result
}

const goodAnswer = ({ services }: Scenery): Answer =>
  middleware(async () => (await services.keys.publicKeys('acme')).map(({ pem }) => pem))

/** Answers genuine probes as our middleware does, and forged ones as it likes. */
function lenient(scene: Scenery, forged: Answer): Answer {
  const good = goodAnswer(scene)
  return async (request, response) => {
    const original = response.writeHead.bind(response)
    response.writeHead = ((status: number, ...rest: []) => {
      if (status !== 401) return original(status, ...rest)
      response.writeHead = original
      return forged(request, response)
    }) as typeof response.writeHead
    return good(request, response)
  }
}

void t.test('a middleware that accepts what is forged fails, however it says so', async (t) => {
  const scene = await startScene(t)
  const believing = async (answer: Answer) => {
    scene.scene.application = answer
    const check = await found(scene, 'middleware_mounted')
    t.match(check, { status: 'fail', detail: /trusts anything/ })
    t.match(check.next_action, /Verify the signature.*RS256.*\/tenants\/acme\/public-key/)
    t.match(await scene.customer('POST', 'go-live'), { status: 409 })
  }
  await believing(lenient(scene, (_request, response) => response.writeHead(204).end()))
  await believing(
    lenient(scene, (_request, response) =>
      response.writeHead(204, { 'X-Service-Probe-Reply': '' }).end(),
    ),
  )
  await believing((_request, response) => response.writeHead(204).end())
})

void t.test(
  'a middleware that refuses what is forged in its own way is told the right one',
  async (t) => {
    const scene = await startScene(t)
    for (const status of [200, 302, 403, 404, 500]) {
      scene.scene.application = lenient(scene, (_request, response) =>
        response.writeHead(status).end(),
      )
      t.match(await found(scene, 'middleware_mounted'), {
        status: 'fail',
        detail: `a forged one is answered ${status} instead of 401`,
        next_action: /^Answer 401 on \/healthz/,
      })
    }
    scene.scene.application = lenient(scene, (_request, response) => response.destroy())
    t.match(await found(scene, 'middleware_mounted'), {
      detail: 'a forged one is answered not at all (the response is not valid HTTP, or incomplete)',
    })
  },
)

void t.test('each answer to a genuine probe says what stands in its way', async (t) => {
  const scene = await startScene(t)
  const cases: readonly (readonly [Answer, RegExp, RegExp])[] = [
    [
      (_request, response) => response.writeHead(404).end(),
      /answers a genuine probe 404 instead of 204: nothing there looks at X-Service-Probe/,
      /^Mount the middleware in front of all routes, \/healthz included.*\/api\/v1\/contract/,
    ],
    [
      (_request, response) => response.writeHead(302, { Location: '/login' }).end(),
      /with a redirect \(302\) instead of 204/,
      /in front of what redirects \/healthz/,
    ],
    [
      (_request, response) => response.writeHead(401).end(),
      /answers 401 to a genuine probe, but without X-Service-Probe-Reply/,
      /before anything that asks for a sign-in on \/healthz/,
    ],
    [
      (request, response) =>
        request.headers['x-service-probe'] === scene.asked.at(-1)?.headers['x-service-probe']
          ? response.writeHead(500).end()
          : response.end(),
      /answers a genuine probe 500 instead of 204/,
      /^Mount the middleware/,
    ],
  ]
  for (const [application, detail, nextAction] of cases) {
    scene.scene.application = application
    const check = await found(scene, 'middleware_mounted')
    t.match(check, { status: 'fail', detail, next_action: nextAction })
    t.match(await found(scene, 'key_installed'), {
      status: 'fail',
      detail: /^Not accepted: .* \(in use\): /,
      next_action: /curl .*\/tenants\/acme\/public-key -o service_public\.pem$/,
    })
  }
  // the nonce lost on the way: a 204 to what is genuine, and a 401 to what is not
  const good = goodAnswer(scene)
  scene.scene.application = (request, response) => {
    response.setHeader = () => response
    return good(request, response)
  }
  t.match(await found(scene, 'middleware_mounted'), {
    status: 'fail',
    detail: /answers 204, but without the nonce of the probe/,
    next_action: /X-Service-Probe-Reply/,
  })
})

/** A server that does with a connection what it likes. */
async function raw(t: Test, answer: Parameters<Server['on']>[1]): Promise<number> {
  const sockets = new Set<{ destroy(): unknown }>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    answer(socket)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return (server.address() as AddressInfo).port
}

void t.test('an application in sdk mode that cannot be reached is told why', async (t) => {
  const scene = await startScene(t, { mode: 'sdk', hostnames: [], origin: 'http://127.0.0.1:1' })
  const at = async (origin: string, detail: RegExp) => {
    await scene.operator('PATCH', '/tenants/acme', { origin })
    const { check, statuses } = await scene.probe()
    t.match(check('application_reached'), { status: 'fail', detail })
    t.match(check('application_reached')?.next_action, `curl -v ${origin}/healthz`)
    t.match(statuses, { middleware_mounted: 'fail', key_installed: 'fail' })
    t.match(check('key_installed'), { next_action: 'Make application_reached pass first.' })
  }
  await at('http://127.0.0.1:1', /the connection was refused/)
  await at('http://nobody.invalid', /the name does not resolve/)
  const nonsense = await raw(t, (socket: { end(text: string): unknown }) =>
    socket.end('220 mail\r\n'),
  )
  await at(`http://127.0.0.1:${nonsense}`, /the response is not valid HTTP, or incomplete/)
  const silent = await raw(t, () => {})
  await at(`http://127.0.0.1:${silent}`, /there was no response in time/)
  const plain = await listen(t, (_request, response) => response.end())
  await at(
    `https://127.0.0.1:${(plain.address() as AddressInfo).port}`,
    /TLS certificate|not valid HTTP/,
  )
})

void t.test('a hostname that leads nowhere is told how to see it', async (t) => {
  const scene = await startScene(t, { hostnames: ['nobody.invalid'] })
  t.match(await found(scene, 'hostname_routed'), {
    status: 'fail',
    detail: /http:\/\/nobody\.invalid:\d+\/healthz: the name does not resolve/,
    next_action: /dig \+short nobody\.invalid must answer/,
  })
  t.match(await found(scene, 'application_reached'), {
    status: 'fail',
    next_action: 'Make hostname_routed pass first.',
  })
  await scene.operator('PATCH', '/tenants/acme', { hostnames: ['acme.localhost', 'b.invalid'] })
  t.match(await found(scene, 'hostname_routed'), { detail: /b\.invalid/ })
  scene.scene.edgeSecret = undefined
  t.match(await found(scene, 'hostname_routed'), {
    detail:
      /answers 200, but the request did not go through a gateway of this service\. The same goes for 1 more/,
    next_action: /dig \+short acme\.localhost/,
  })
})

void t.test('every failure says what to do, and nothing else does', async (t) => {
  const scene = await startScene(t)
  const applications: Answer[] = [
    goodAnswer(scene),
    (_request, response) => response.writeHead(204).end(),
    (_request, response) => response.writeHead(404).end(),
    (_request, response) => response.destroy(),
  ]
  for (const application of applications)
    for (const isProtected of [false, true]) {
      Object.assign(scene.scene, { application, isProtected })
      await scene.operator('POST', `/tenants/acme/${isProtected ? 'go-live' : 'go-back'}`, {
        ...(isProtected && { force: true }),
      })
      const { body } = await scene.probe()
      for (const check of body['checks'] as SeenCheck[]) {
        t.match(check.detail, /^\S.*\.$/s, `${check.check} is a sentence: ${check.detail}`)
        const isToDo = check.status === 'fail' || check.status === 'warn'
        t.equal(check.next_action !== '', isToDo, `${check.check} ${check.status}`)
      }
    }
})

void t.test('in connector mode: which connector is away, or finds no application', async (t) => {
  const scene = await startScene(t, { mode: 'connector' })
  const { services } = scene
  const reached = () => found(scene, 'application_reached')
  scene.scene.application = (_request, response) => response.writeHead(503).end()
  t.match(await reached(), {
    status: 'fail',
    detail: 'No connector is connected: none has joined this tenant yet.',
    next_action:
      /^Create a join token at \S+\/console\/tenants\/acme\/connectors, .*service-connector join --origin .*service-connector run\.$/,
  })
  t.match(await found(scene, 'middleware_mounted'), { next_action: /application_reached/ })
  const join = async (name: string) => {
    const actor = { name: 'operator', requestId: 'r1' }
    const { token } = await services.joinTokens.make(
      'acme',
      { name, uses: 1, expiresIn: 60 },
      actor,
    )
    const { publicKey } = makeKey()
    const joining = { publicKey, name, program: '0.2.0', requestId: 'r1' }
    return (await services.connectors.join(token, joining)).connectorId
  }
  const [one, two] = [await join('web-1'), await join('web-2')]
  t.match(await reached(), {
    detail: /^No connector is connected\. Joined: web-[12], web-[12]\.$/,
    next_action: /^Start the connector on one of these machines: service-connector run\..*diag/,
  })
  const says = (connector_id: string, state: 'connected' | 'unreachable', reason: string | null) =>
    services.connectorPresence.receive('edge-1', {
      type: 'connectors',
      is_full: false,
      here: [
        {
          ...{ tenant_id: 'acme', connector_id, state, reason, program: '0.2.0' },
          ...{ since_seconds: 1, known_seconds: 0, connections: 1, in_use: 0, requests: 0 },
          ...{ round_trip_ms: 1, last_error: null },
        },
      ],
      gone: [],
    })
  says(one, 'connected', null)
  t.match(await reached(), { status: 'pass' }, 'the 503 is of the application itself')
  says(two, 'unreachable', 'refused')
  scene.scene.isApplicationUp = false
  t.match(await reached(), {
    status: 'fail',
    detail: 'The connector web-2 is connected, but the application behind it refuses connections.',
    next_action: /^Start the application on web-2, .*join --origin; service-connector diag/,
  })
})
