import type { FrameworkSnippet } from './snippet.ts'

export const RUBY: Readonly<Record<string, FrameworkSnippet>> = {}
