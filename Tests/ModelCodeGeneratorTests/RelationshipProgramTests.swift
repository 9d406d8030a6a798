import Foundation
import ManagedModel
import ModelReader
import TestSupport
import Testing

/// What is generated for relationships is used by programs, linked to the library: each is set from one side and seen from the
/// other, unset, stored, read back after a restart, and deleted at both ends.
///
/// `COREDATASOURCE_COMPILED_MODELS` says how many bundles of real apps are tried.
@Suite(.enabled(if: Compiler.isAvailable)) struct RelationshipProgramTests {
    /// What cannot be exercised, by a part of the model's path.
    private let skipped = [
        // Its inverse leads to a sub-entity only. The inverse is exercised.
        "magicalpanda__MagicalRecord__TestModel-2012": ["AbstractRelatedEntity.mainTestEntity"],
        // Transient on both sides, so no link could be kept anywhere: they have no properties.
        "wireapp__wire-ios-data-model__zmessaging": [
            "Message.missingRecipients", "UserClient.messagesMissingRecipient",
        ],
    ]

    @Test(arguments: ["Graph", "Mail"])
    func generatedAccessorsSetBothSidesOfEveryRelationship(_ name: String) async throws {
        try await exercise(PackageFiles.tests.appending(components: "Fixtures", "\(name).xcdatamodeld"))
    }

    @Test(.enabled(if: !CorpusModels.all.isEmpty), arguments: CorpusModels.chosen)
    func accessorsOfRealModelsSetBothSides(_ model: URL) async throws {
        try await exercise(model)
    }

    private func exercise(_ url: URL) async throws {
        let model = try ModelReader.read(url).model
        let program = try RelationshipProgram(model)
        #expect(program.skipped == skipped.first { url.pathComponents.contains($0.key) }?.value ?? [])
        guard program.relationshipCount > 0 else { return }
        let directory = try TemporaryDirectory()
        let files = [
            "Generated.swift": program.generated, "Program.swift": program.source,
            "Types.swift": AppTypes.declarations(for: [model]),
        ]
        for (name, source) in files {
            try Data(source.utf8).write(to: directory.url.appending(component: name))
        }
        let library = PackageFiles.cases.appending(components: "Programs", "ExercisesRelationships.swift").path
        let run = try await RealLibrary.shared.value.run(
            files.keys.sorted().map { directory.url.appending(component: $0).path } + [library], in: directory.url)
        #expect(run.status == 0 && run.output == "" && run.errors == "", "\(run.output) \(run.errors)")
    }
}
