// Made by model-reset convert from the model Tasks. Change the model, not this file.
// swift-format-ignore-file

import CoreDataSource
import Foundation

@StoredComposite
nonisolated struct Origin {
    var cost: Int = 0
    @StoredPart(raw: String.self, default: "office") var venue: Venue
    @StoredPart(raw: String.self) var detour: Venue?
}
