"""Box3D

Box3D is by Erin Catto. Counts, speeds and sizes are those that its samples are told to have; where a size is not told,
cubes of 1 m and 1,000 kg/m³ were taken. Its y is z here. What a sample expects is mechanics, or what the original shows.
"""
