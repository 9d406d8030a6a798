import Foundation
import TestSupport
import Testing

/// The program in a terminal, and its recording.
struct ProgramTests {
    private static let image = PackageFiles.root.appending(
        path: "Sources/CoreDataSource/CoreDataSource.docc/Resources/mail.svg")

    private func program(_ name: String) -> String { PackageFiles.products.appending(component: name).path }

    @Test func everySceneEndsWithWhatTheStoreHas() async throws {
        let run = try await Subprocess(program("mail"), [])
        #expect(run.errors == "")
        #expect(run.status == 0)
        #expect(!run.output.contains("\u{1B}"), "there are no colours in a file")
        let lines = run.output.split(separator: "\n")
        #expect(lines.allSatisfy { $0.count <= 98 })
        let titles = lines.filter { $0.wholeMatch(of: /\ \d\. \w+/) != nil }
        #expect(titles.count == 9)
        for sentence in [
            "3 new, 5 changed, 20 gone", "The phone and the note were merged.", "Boathouse flooded",
            "5,000 messages", "100 %",
        ] { #expect(run.output.contains(sentence), "\(sentence)") }
        // The deleted account is in the sidebar of all scenes but the last.
        #expect(lines.filter { $0.hasPrefix("│ Work") }.count == 8)
    }

    @Test func theImageIsTheRecordingOfTheProgram() async throws {
        let drawing = try await Subprocess(
            "sh",
            [
                "-c", "\"$0\" --record | \"$1\" 'The sample app mail in a terminal'", program("mail"),
                program("terminal-drawing"),
            ])
        #expect(drawing.status == 0 && drawing.errors == "")
        #expect(
            try drawing.output == String(contentsOf: Self.image, encoding: .utf8),
            "The image is not what the program shows. Run Scripts/record-example.")
        #expect(drawing.output.utf8.count < 150_000)
    }

    @Test func anUnknownArgumentIsRefused() async throws {
        let run = try await Subprocess(program("mail"), ["--slow"])
        #expect(run.status == 2 && run.output.hasPrefix("Usage: mail"))
    }

    @Test func textOfARecordingIsEscapedInTheImage() async throws {
        let directory = try TemporaryDirectory()
        let recording = directory.url.appending(component: "recording")
        try Data("\u{1B}[32ma <b> & c\u{1B}[0m\n\u{0C}10\n".utf8).write(to: recording)
        let drawing = try await Subprocess(
            "sh", ["-c", "\"$0\" 'A & B' <\"$1\"", program("terminal-drawing"), recording.path])
        #expect(drawing.output.contains(">a &lt;b> &amp; c</text>"))
        #expect(drawing.output.contains("<title>A &amp; B</title>"))
    }
}
