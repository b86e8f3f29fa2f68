import type { FrameworkSnippet } from './snippet.ts'

export const GO: Readonly<Record<string, FrameworkSnippet>> = {}
