/** The frameworks whose applications take a middleware by one line, and how that line reads. */

export interface MountedFramework {
  /** Its adapter is called so as well: `service.express()`. */
  readonly name: 'express' | 'fastify' | 'koa' | 'hono' | 'nest'
  /** By `new`, and not by a call. */
  readonly isConstructed: boolean
  /** What is made is a promise. */
  readonly isAwaited: boolean
  /** Methods that return the very application. */
  readonly sameBehind: readonly string[]
  readonly method: 'use' | 'register'
  /** And so does that: `express().use(…)` is what `express()` was. */
  readonly isChained: boolean
  readonly remark: string
}

const USED = {
  isConstructed: false,
  isAwaited: false,
  sameBehind: [],
  method: 'use',
  isChained: true,
  remark: 'before everything else',
} as const

export const MOUNTED: Readonly<Record<MountedFramework['name'], MountedFramework>> = {
  express: { ...USED, name: 'express', sameBehind: ['set', 'enable', 'disable'] },
  koa: { ...USED, name: 'koa', isConstructed: true },
  hono: { ...USED, name: 'hono', isConstructed: true },
  nest: { ...USED, name: 'nest', isAwaited: true, isChained: false },
  fastify: {
    ...USED,
    name: 'fastify',
    sameBehind: ['withTypeProvider'],
    method: 'register',
    isChained: false,
    remark: 'before every other plugin',
  },
}

export function mountedFramework(name: string): MountedFramework | undefined {
  return Object.hasOwn(MOUNTED, name) ? MOUNTED[name as MountedFramework['name']] : undefined
}
