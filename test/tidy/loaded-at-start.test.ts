/** What a program loads before it serves: what few ask for is loaded when somebody does. */
import { readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))

/** Types are gone before anything is loaded; `import()` is what waits. */
const STATIC = /^(?:import|export)\s+(?!type\b)(?:[^'"]*?\sfrom\s+)?'([^']+)'/gm

/** The file and all that is loaded with it, and the packages among them by their names. */
function loadedWith(entry: string): ReadonlySet<string> {
  const loaded = new Set<string>()
  const follow = (file: string) => {
    if (loaded.has(file)) return
    loaded.add(file)
    if (!file.endsWith('.ts')) return
    for (const [, from = ''] of readFileSync(join(ROOT, file), 'utf8').matchAll(STATIC))
      follow(from.startsWith('.') ? relative(ROOT, join(ROOT, dirname(file), from)) : from)
  }
  follow(entry)
  return loaded
}

const under = (loaded: ReadonlySet<string>, ...places: string[]) =>
  [...loaded].filter((file) => places.some((place) => file.startsWith(place)))

t.test('entrances load next to nothing before compiled code is kept', async (t) => {
  for (const entry of [
    'control-plane/main.ts',
    'gateway/main.ts',
    'control-plane/launch/start.ts',
  ]) {
    const own = [...loadedWith(entry)].filter((file) => !file.startsWith('node:'))
    t.same(own, [entry, 'shared/compile-cache.ts'], entry)
  }
})

t.test('a control plane is up without the pages of the console and what they need', async (t) => {
  const loaded = loadedWith('control-plane/control-plane.ts')
  t.ok(loaded.size > 400, 'which is the program')
  const pages = ['control-plane/console/tenant/', 'control-plane/console/operator/']
  t.same(under(loaded, ...pages, 'control-plane/console/routes.ts'), [])
  t.same(under(loaded, 'openid-client', 'esbuild', 'oidc-provider', 'nodemailer', 'pg'), [])
})

t.test(
  'a worker of a gateway serves without what asks realms and carries WebSockets',
  async (t) => {
    const loaded = loadedWith('gateway/process/worker.ts')
    t.ok(loaded.size > 100, 'which is the program')
    t.same(under(loaded, 'undici', 'http-proxy-3'), [])
  },
)

t.test('npm start loads no connector that nobody has asked for', async (t) => {
  const loaded = loadedWith('control-plane/launch/all-programs.ts')
  t.same(under(loaded, 'control-plane/downloads/'), [])
})
