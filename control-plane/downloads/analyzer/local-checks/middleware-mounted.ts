/** Whether the middleware is imported, mounted, and there before anything that answers. */
import { isNode, type LocalCheck } from './looked-at.ts'
import { nodeMount } from './node-mount.ts'
import { pastedMount } from './pasted-mount.ts'

export const middlewareMounted: LocalCheck = async (at) =>
  isNode(at.application) ? nodeMount(at) : pastedMount(at)
