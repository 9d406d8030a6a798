internal import Foundation
internal import ModelResetCommands

let outcome = ModelReset.run(Array(CommandLine.arguments.dropFirst()))
FileHandle.standardError.write(Data(outcome.errors.utf8))
FileHandle.standardOutput.write(Data(outcome.output.utf8))
exit(outcome.status)
