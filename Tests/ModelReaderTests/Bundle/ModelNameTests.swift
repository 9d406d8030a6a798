import ErrorExpectations
import Foundation
import ManagedModel
import ModelReader
import TestSupport
import Testing

/// Models that are found by their name.
struct ModelNameTests {
    private func copyModel(to url: URL) throws {
        try FileManager.default.createDirectory(
            at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try FileManager.default.copyItem(
            at: PackageFiles.root.appending(components: "Models", "Contacts.xcdatamodeld"), to: url)
    }

    @Test func theFirstDirectoryWithTheModelIsUsed() throws {
        let directory = try TemporaryDirectory()
        let (empty, full) = (directory.url.appending(component: "a"), directory.url.appending(component: "b"))
        try copyModel(to: full.appending(component: "Contacts.xcdatamodeld"))
        let model = try ModelReader.read(named: "Contacts", in: [empty, full]).model
        #expect(model.name == "Contacts" && model.entity(named: "ContactEntity") != nil)
    }

    @Test func aModelThatIsNowhereIsAnErrorThatNamesThePlaces() throws {
        let directory = try TemporaryDirectory()
        let places = [directory.url]
        let error = expectThrows(ModelReaderError.self) {
            _ = try ModelReader.read(named: "Contacts", in: places)
        }
        #expect(error?.code == .notFound && error?.message.contains(directory.url.path) == true)
    }

    @Test func modelsAreLookedForBesideTheProgram() throws {
        let program = try #require(Bundle.main.executableURL).resolvingSymlinksInPath().deletingLastPathComponent()
        #expect(ModelReader.modelDirectories.contains { $0.path == program.standardizedFileURL.path })
        #expect(Set(ModelReader.modelDirectories).count == ModelReader.modelDirectories.count)
    }
}
