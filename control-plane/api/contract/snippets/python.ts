import type { FrameworkSnippet } from './snippet.ts'

export const PYTHON: Readonly<Record<string, FrameworkSnippet>> = {}
