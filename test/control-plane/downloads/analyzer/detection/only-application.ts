/** What is detected of a project that is nowhere but in the test's own words. */
import type { Application } from '../../../../../control-plane/downloads/analyzer/detection/application.ts'
import { detect } from '../../../../../control-plane/downloads/analyzer/detection/detect.ts'
import { projectWith } from './project-with.ts'

export type Files = Readonly<Record<string, string>>

export const detected = (files: Files) => detect(projectWith(files))

export async function only(files: Files): Promise<Application> {
  const { applications } = await detected(files)
  const [first] = applications
  if (first === undefined || applications.length > 1)
    throw new Error(`${applications.length} applications`)
  return first
}

export const confidenceOf = ({ findings }: Application, about: string) =>
  findings.find((finding) => finding.about === about)?.confidence

export const FLASK = 'from flask import Flask\napp = Flask(__name__)\n'
export const BOOT = '@SpringBootApplication class A { static void main(String[] a) {} }'
export const WEB_CSPROJ = '<Project Sdk="Microsoft.NET.Sdk.Web"></Project>'
export const POM = `<project><parent><groupId>org.springframework.boot</groupId><version>3</version></parent>
<dependencies><dependency><groupId>org.springframework.boot</groupId>
<artifactId>spring-boot-starter-web</artifactId></dependency></dependencies></project>`
