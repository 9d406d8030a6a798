internal import CommandLineWords
internal import Foundation
internal import ModelCodeGenerator
internal import ModelReader

let words = Array(CommandLine.arguments.dropFirst())
if words.contains("--help") {
    print(Arguments.usage)
    exit(0)
}
do {
    try generate(try Arguments(words))
} catch let error as UsageError {
    report("model-codegen: error: \(error.message)\n\(Arguments.usage)")
    exit(2)
} catch let error as ModelReaderError {
    report("\(error)")
    exit(3)
} catch {
    report("model-codegen: error: \(error.localizedDescription)")
    exit(1)
}

/// Reads the model, prints its warnings, and writes the files whose contents change. A file with the same contents keeps its
/// date, so the build system does not compile it again.
func generate(_ arguments: Arguments) throws {
    if let problem = arguments.watch?.problem {
        report(problem)
        exit(4)
    }
    let document = try ModelReader.read(URL(fileURLWithPath: arguments.model), version: arguments.version)
    for diagnostic in document.diagnostics { report("\(diagnostic)") }
    for warning in arguments.generator.warnings(for: document.model) {
        report("\(arguments.model): warning: \(warning)")
    }
    let paths = [arguments.output] + arguments.parts
    for (path, text) in zip(paths, arguments.generator.sources(for: document.model, parts: paths.count)) {
        try write(Data(text.utf8), to: URL(fileURLWithPath: path))
    }
}

func write(_ source: Data, to output: URL) throws {
    if let written = try? Data(contentsOf: output), written == source { return }
    try source.write(to: output, options: .atomic)
}

func report(_ message: String) {
    FileHandle.standardError.write(Data((message + "\n").utf8))
}
