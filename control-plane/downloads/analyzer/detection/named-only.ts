/** Frameworks and platforms that are recognised, so that people hear why nothing is edited for them. */
import type { Project } from '../project/project.ts'
import type { Application } from './application.ts'
import { folderOf, isAside, isUnder } from './folders.ts'

interface Known {
  readonly title: string
  readonly manifest: RegExp
  readonly text: RegExp
}

const FRAMEWORKS: readonly Known[] = [
  {
    title: 'Symfony',
    manifest: /(?:^|\/)composer\.json$/,
    text: /"symfony\/framework-bundle"\s*:/,
  },
  { title: 'Phoenix', manifest: /(?:^|\/)mix\.exs$/, text: /\{\s*:phoenix\s*,/ },
  ...onNode({
    Nuxt: 'nuxt',
    SvelteKit: '@sveltejs/kit',
    Astro: '@astrojs/node',
    Remix: '@remix-run/serve',
    'React Router': '@react-router/serve',
    AdonisJS: '@adonisjs/core',
    Sails: 'sails',
    hapi: '@hapi/hapi',
    Egg: 'egg',
    LoopBack: '@loopback/rest',
    Restify: 'restify',
    Nitro: 'nitropack',
  }),
]

/** By the package that serves it. */
function onNode(packages: Readonly<Record<string, string>>): Known[] {
  return Object.entries(packages).map(([title, name]) => ({
    title,
    manifest: /(?:^|\/)package\.json$/,
    text: new RegExp(`"${name}"\\s*:\\s*"`),
  }))
}

const MANIFESTS_MAX = 50

/** Not where an application was found: the framework serves its pages then. */
export async function namedOnly(
  project: Project,
  applications: readonly Application[],
): Promise<string[]> {
  const remarks: string[] = []
  for (const { title, manifest, text } of FRAMEWORKS)
    for (const { path } of project.files
      .filter(({ path }) => manifest.test(path) && !isAside(path))
      .filter(({ path }) => !applications.some(({ folder }) => folder === folderOf(path)))
      .slice(0, MANIFESTS_MAX))
      if (text.test((await project.read(path)) ?? ''))
        remarks.push(
          `${path} is of an application on ${title}. Nothing is edited for ${title}: route it through a gateway, and verify the signed claims in its own middleware.`,
        )
  return remarks
}

const WORKER = /(?:^|\/)wrangler\.(?:toml|jsonc?)$/
const DENO = /(?:^|\/)deno\.jsonc?$/

/** Of applications on Node those that run elsewhere: the middleware for Node does not load there. */
export function runElsewhere(
  project: Project,
  applications: readonly Application[],
): { readonly onNode: Application[]; readonly remarks: string[] } {
  const onNode: Application[] = []
  const remarks: string[] = []
  for (const application of applications) {
    const platform = platformOf(project, application)
    if (platform === null) onNode.push(application)
    else
      remarks.push(
        `${application.mount?.path ?? application.folder} (${application.framework}) runs on ${platform}, where the middleware for Node.js does not. Route it through a gateway.`,
      )
  }
  return { onNode, remarks }
}

/** A Worker is given away by its file, and listens nowhere; Deno has no package.json of its own. */
function platformOf({ files, has }: Project, { folder, port, framework, mount }: Application) {
  const beside = (pattern: RegExp) =>
    files.find(({ path }) => pattern.test(path) && isUnder(folderOf(path), mount?.path ?? ''))
  if (framework === 'hono' && port === null && beside(WORKER) !== undefined)
    return 'Cloudflare Workers'
  const deno = beside(DENO)
  if (deno === undefined) return null
  const manifest = [folderOf(deno.path), 'package.json'].filter((part) => part !== '').join('/')
  return has(manifest) || folder.length > folderOf(deno.path).length ? null : 'Deno'
}
