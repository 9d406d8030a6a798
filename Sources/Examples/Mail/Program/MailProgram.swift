import CoreDataSource
import Foundation
import MailApp

/// A mail client as a sample app. To run it: Scripts/run-example mail
@main
@MainActor
struct MailProgram {
    static let help = """
        Usage: mail [--fast] [--record]

        Plays scenes with 5,000 generated messages in a store that is deleted at the end.

          --fast      without pauses
          --record    prints every picture with its colors, for terminal-drawing

        """

    /// The dates and the time zones are fixed, so that every run prints the same output.
    static let now = Date(timeIntervalSince1970: 1_795_888_800)  // 2026-11-28 18:00 UTC
    static let messageCount = 5000

    static func main() async throws {
        let arguments = Set(CommandLine.arguments.dropFirst())
        guard arguments.isSubset(of: ["--fast", "--record"]) else {
            print(help, terminator: "")
            exit(arguments == ["--help"] ? 0 : 2)
        }
        let folder = FileManager.default.temporaryDirectory.appending(component: "mail-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }

        let terminal = Terminal(
            isRecording: arguments.contains("--record"), isFast: arguments.contains("--fast"), width: MailWindow.width,
            height: MailWindow.height)
        let store = try await MailStore(.sqlite(folder.appending(component: "mail.sqlite")), user: "lin")
        let server = SampleServer(messageCount: messageCount, now: now)
        try await Scenes(store, terminal, server, now: now).play()
        try await store.container.close()
    }
}
