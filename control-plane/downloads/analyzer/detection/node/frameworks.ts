/** Who depends on a framework, and how sure that makes it that the application runs for others. */
import type { Confidence, FrameworkName, Place } from '../application.ts'
import { weakest } from '../assemble.ts'
import type { Codebase } from './codebase.ts'
import type { Entry } from './entries.ts'
import type { Dependency, Manifest } from './manifest.ts'
import { innermost, type NodePackage } from './packages.ts'
import { isAside, isWithin } from './paths.ts'

const NAMES: Readonly<Partial<Record<FrameworkName, readonly [string, string]>>> = {
  express: ['Express', 'express'],
  fastify: ['Fastify', 'fastify'],
  koa: ['Koa', 'koa'],
  hono: ['Hono', 'hono'],
  nest: ['NestJS', '@nestjs/core'],
  next: ['Next.js', 'next'],
  /** There is a package `node` too, which is something else. */
  node: ['node:http', ''],
}

export const nameOf = (framework: FrameworkName) => NAMES[framework]?.[0] ?? framework

/** By whom the framework is depended on: the package that imports it, or one above that. */
export function dependencyOf(
  { packages }: Codebase,
  one: NodePackage,
  framework: FrameworkName,
  mount: Place | null,
): { readonly dependency: Dependency | undefined; readonly manifest: Manifest | null } {
  const name = NAMES[framework]?.[1] ?? ''
  const importer = (mount && innermost(packages, mount.path)) ?? one
  for (const { folder, manifest } of [importer, one, ...[...packages.all].reverse()])
    if (isWithin(folder, importer.folder) || folder === one.folder) {
      const dependency = manifest.dependencies.get(name)
      if (dependency !== undefined) return { dependency, manifest }
    }
  return { dependency: undefined, manifest: null }
}

/** By how it starts, and whether it is meant to run for others at all. */
export function entryConfidence(
  codebase: Codebase,
  one: NodePackage,
  entry: Entry,
  framework: FrameworkName,
  mount: Place,
): Confidence {
  if (entry.path === null) return 'guess'
  const kind = dependencyOf(codebase, one, framework, mount).dependency?.kind
  const isForDevelopment = kind === 'devDependencies' || kind === 'peerDependencies'
  const aside = asideConfidence(one, entry.path)
  if (entry.by === 'command') return weakest(isForDevelopment ? 'likely' : 'sure', aside)
  return weakest(isForDevelopment ? 'guess' : 'likely', aside)
}

export function asideConfidence(one: NodePackage, path: string): Confidence {
  return isAside(`${one.folder}/`) || isAside(path) ? 'guess' : 'sure'
}
