/** A project that is nowhere but in the test's own words. */
import type { Project } from '../../../../../control-plane/downloads/analyzer/project/project.ts'

export function projectWith(files: Readonly<Record<string, string>>): Project {
  const texts = new Map(Object.entries(files))
  return {
    root: '/project',
    files: [...texts].map(([path, text]) => ({ path, bytes: text.length })),
    isCut: false,
    unread: [],
    has: (path) => texts.has(path),
    read: async (path) => texts.get(path) ?? null,
  }
}
