import Foundation
import TestSupport

extension CatalogProgram {
    /// Starts the program with pipes; its output is read line by line.
    func converse(_ arguments: [String]) throws -> Conversation {
        let (input, output) = (Pipe(), Pipe())
        let process = try start(arguments, standardInput: input.fileHandleForReading, standardOutput: output)
        return Conversation(
            process, input: input.fileHandleForWriting, output: output.fileHandleForReading, separator: "\n")
    }

    /// Replaces the input as apt does: the new file is written aside, and renamed.
    func replaceInput(_ packages: [ControlPackage]) throws {
        let next = folder.appending(component: "next")
        try Data(packages.text.utf8).write(to: next)
        guard rename(next.path, input.path) == 0 else { throw CocoaError(.fileWriteUnknown) }
    }
}
