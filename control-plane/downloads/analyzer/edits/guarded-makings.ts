/** Which applications of a program have the middleware, wherever the line stands that mounts it. */
import type { Node } from '@babel/types'
import type { Making } from '../detection/node/makings.ts'
import type { Tracer } from '../detection/node/trace.ts'
import type { Source } from '../syntax/parse.ts'
import { applicationsIn } from './made-applications.ts'
import { isMountedInChain, isMountedOn, mountCalls } from './mounted-already.ts'
import { mountedFramework } from './mounted-frameworks.ts'

export interface GuardedMakings {
  has(making: Making): boolean
}

/** A name that may stand for several applications guards them all only where it is mounted as often. */
export function guardedMakings(sources: Iterable<Source>, tracer: Tracer): GuardedMakings {
  const guarded = new Set<Node>()
  const unsure = new Map<Node, number>()
  for (const source of sources)
    for (const { receiver } of mountCalls(source)) {
      const makings = tracer.makings({ source, node: receiver })
      const isHandedIn =
        receiver.type === 'Identifier' && source.bindings.resolve(receiver)?.kind === 'parameter'
      for (const { node } of makings) {
        const times = (unsure.get(node) ?? 0) + 1
        unsure.set(node, times)
        if (isHandedIn || times >= makings.length) guarded.add(node)
      }
    }
  return {
    has: (making) => guarded.has(making.node) || isMountedHere(making),
  }
}

/** Where the name cannot be followed, its line is found all the same. */
function isMountedHere({ framework, source, node }: Making): boolean {
  if (isMountedInChain(source, node)) return true
  const known = mountedFramework(framework)
  const own = known && applicationsIn(source, known).find(({ call }) => call === node)
  return own !== undefined && 'made' in own && isMountedOn(source, own.made)
}
